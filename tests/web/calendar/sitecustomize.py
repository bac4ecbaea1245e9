"""Every Python process that finds this on its path lives in the future, so that no test has to wait for what is due then."""

import os
import time

_machine_time = time.time
_ahead_s = float(os.environ["CALENDAR_AHEAD_S"])


def _read_calendar() -> float:
    return _machine_time() + _ahead_s


time.time = _read_calendar
