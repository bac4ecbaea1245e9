"""Data-rich corners first: quads a fetch on a simulated web, by what is learned of patterns against breadth first.

    python benchmarks/bench_priority.py                  # three webs, budgets of up to 8,000 pages; some 20 seconds
    python benchmarks/bench_priority.py --budget 30000

Both crawl with the same frontier, pace and seeds, in virtual time. `tests/frontier/simulation.py` tells what is on this web.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.frontier.simulation import SimulatedWeb, by_depth, crawl_simulation

from rdfspider.domains import Domains, bundled_suffix_list


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=int, default=8000, help="pages to fetch")
    parser.add_argument("--sites", type=int, default=300)
    options = parser.parse_args()
    budgets = [options.budget * share // 16 for share in (1, 2, 4, 8, 16)]
    domains = Domains(bundled_suffix_list(), 1)
    print(f"{'web':>12} {'pages':>8} {'breadth first':>14} {'by yield':>10} {'ratio':>6}   quads a page")
    webs = [(f"seed {seed}", SimulatedWeb(seed, options.sites)) for seed in (1, 2, 3)]
    webs.append(("uniform", SimulatedWeb(4, options.sites, is_uniform=True)))
    for name, web in webs:
        with tempfile.TemporaryDirectory(prefix="bench-priority-") as folder:
            breadth = crawl_simulation(web, Path(folder) / "breadth", domains, budgets, by_depth)
            ours = crawl_simulation(web, Path(folder) / "yield", domains, budgets)
        for budget in ours:
            ratio = ours[budget] / breadth[budget]
            print(f"{name:>12} {budget:8,} {breadth[budget]:14.2f} {ours[budget]:10.2f} {ratio:6.2f}", flush=True)


if __name__ == "__main__":
    main()
