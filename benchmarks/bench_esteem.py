"""Good pages first: the mean planted quality of the first tenth of a simulated web, with and without what its link graph tells.

    python benchmarks/bench_esteem.py                       # the five reported webs of each kind; some two minutes
    python benchmarks/bench_esteem.py --webs 1 2 3 4 5      # those by which steps and bounds were chosen
    python benchmarks/bench_esteem.py --sites 4000

All crawls have the same frontier, pace and seeds, in virtual time; the graph is written and rated by the index's own code, when
a crawl would. `tests/frontier/quality_simulation.py` tells what these webs are. The oracle knows the quality of all sites.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.frontier.quality_simulation import Course, Guide, QualityWeb, crawl_by_quality
from tests.frontier.simulation import by_depth

from rdfspider.domains import Domains, bundled_suffix_list

REPORTED = (101, 102, 103, 104, 105)
KINDS = {"farms": (2, True), "no farms": (0, True), "no signal": (0, False)}
"""How many farms there are, and whether quality decides who links to whom."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--webs", type=int, nargs="+", default=REPORTED, help="numbers of webs")
    parser.add_argument("--sites", type=int, default=1000)
    options = parser.parse_args()
    print("mean quality of the pages fetched (and the share of farms)")
    print(f"{'kind':>10} {'web':>4} {'pages':>7}   breadth first        without           with         oracle  ratio")
    for kind, (farms, has_signal) in KINDS.items():
        for number in options.webs:
            web = QualityWeb(number, options.sites, farms, has_signal=has_signal)
            breadth, without, ours, oracle = (crawl(web, guide) for guide in (None, *Guide))
            columns = " ".join(
                f"{each.quality:7.2f} ({each.farm_share:4.0%})" for each in (breadth, without, ours, oracle)
            )
            ratio = ours.quality / without.quality
            print(f"{kind:>10} {number:>4} {web.pages // 10:7,}  {columns} {ratio:6.2f}", flush=True)


def crawl(web: QualityWeb, guide: Guide | None) -> Course:
    domains = Domains(bundled_suffix_list(), 1)
    with tempfile.TemporaryDirectory(prefix="bench-esteem-") as folder:
        priority = by_depth if guide is None else None
        return crawl_by_quality(web, Path(folder), domains, web.pages // 10, guide or Guide.NOTHING, priority)


if __name__ == "__main__":
    main()
