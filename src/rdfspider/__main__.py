"""The command `rdfspider`, also as `python -m rdfspider`: Ctrl-C is answered from the first moment, then the rest is imported."""

import gc

from rdfspider.interrupts import end_at_interrupt


def main() -> None:
    """Import the command line, and run it."""
    # Until the command is imported too: next to nothing of all that is garbage.
    gc.disable()
    with end_at_interrupt():
        from rdfspider.cli import main as run
    run()


if __name__ == "__main__":
    main()
