"""The command `rdfspider`, also as `python -m rdfspider`: Ctrl-C is answered from the first moment, then the rest is imported."""

import os
import signal


def main() -> None:
    """Import the command line, and run it."""
    # Who started us may want interrupts to be ignored.
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:
        signal.signal(signal.SIGINT, _leave)
    # Not at the top: it takes half a second.
    from rdfspider.cli import main as run

    if is_heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _leave(number: int, frame: object) -> None:
    """End at once: nothing was begun, and an exception could get lost in a module that is being imported."""
    try:
        os.write(2, b"rdfspider: interrupted\n")
    finally:
        os._exit(128 + number)


if __name__ == "__main__":
    main()
