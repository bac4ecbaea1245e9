"""The command `rdfspider`, also as `python -m rdfspider`: Ctrl-C is answered from the first moment, then the rest is imported."""

import gc
import os

from rdfspider.interrupts import end_at_interrupt


def main() -> None:
    """Import the command line, and run it."""
    # numpy would start threads for algebra that nothing here needs, which cost more than its import. Our children inherit this.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Until the command is imported too: next to nothing of all that is garbage.
    gc.disable()
    with end_at_interrupt():
        from rdfspider.cli import main as run
    run()


if __name__ == "__main__":
    main()
