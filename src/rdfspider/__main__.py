"""The command `rdfspider`, also as `python -m rdfspider`: Ctrl-C is answered from the first moment, then the rest is imported."""

from rdfspider.interrupts import end_at_interrupt


def main() -> None:
    """Import the command line, and run it."""
    with end_at_interrupt():
        from rdfspider.cli import main as run
    run()


if __name__ == "__main__":
    main()
