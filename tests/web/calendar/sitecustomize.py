"""Every Python process that finds this on its path has the calendar of a file, so that no test has to wait for what is due later,
and can set the clock while a process runs."""

import os
import time
from pathlib import Path

_machine_time = time.time
_ahead = Path(os.environ["CALENDAR_AHEAD"])


def _read_calendar() -> float:
    return _machine_time() + float(_ahead.read_text())


time.time = _read_calendar
