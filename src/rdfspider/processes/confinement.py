"""Limits on a child process: it may not use the network, outlive its parent, or exceed its time and memory.

The kernel enforces time, memory and network access, because nothing else can interrupt native code.
"""

import ctypes
import os
import platform
import resource
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# The kernel's number of each architecture, and of the system call `socket` on it.
_SOCKETS = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_LOAD_WORD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _FAIL, _EACCES = 0x7FFF0000, 0x00050000, 13
# The usual limit of shells, enough for more than a thousand levels of nesting. With more, deeper queries would take minutes.
_STACK_BYTES = 8 * 1024 * 1024
_PARENT_LOOK_S = 1.0
# The parent kills the process at its time limit; if it cannot, the kernel does so this much later.
_GRACE_S = 5.0
_PAGE_BYTES = resource.getpagesize()
CPU_SIGNAL = signal.SIGPROF
"""What ends a process that has used up its processor time."""


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def confine_process(parent_pid: int) -> None:
    """Confine this process for good; must be called before it starts other threads."""
    # Ctrl-C reaches every process of a terminal; the parent decides what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_STACK, _STACK_BYTES)
    forbid_network()
    threading.Thread(target=_watch_parent, args=(parent_pid,), daemon=True).start()


def forbid_network() -> bool:
    """Make the kernel refuse new sockets; False if it cannot. Queries with SERVICE are already refused earlier, so this is a
    second line of defence."""
    known = _SOCKETS.get(platform.machine())
    if platform.system() != "Linux" or known is None:
        return False
    architecture, socket_call = known
    code = (
        (_LOAD_WORD, 0, 0, 4),
        (_JUMP_IF_EQUAL, 0, 3, architecture),
        (_LOAD_WORD, 0, 0, 0),
        (_JUMP_IF_EQUAL, 0, 1, socket_call),
        (_RETURN, 0, 0, _FAIL | _EACCES),
        (_RETURN, 0, 0, _ALLOW),
    )
    program = _Program(len(code), (_Instruction * len(code))(*(_Instruction(*each) for each in code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.prctl(_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) == 0)


@contextmanager
def limit_resources(timeout_s: float, memory_bytes: int, cpu_s: float = 0.0) -> Iterator[None]:
    """Within this context, limit the total address space of the process, and end it some time after the timeout, in case its
    parent, which kills it at the timeout, is gone. With `cpu_s`, it also ends, by CPU_SIGNAL, when it has used so much processor
    time."""
    # Code that ran here before may have changed the handlers.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(CPU_SIGNAL, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, timeout_s + _GRACE_S)
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    _set_limit(resource.RLIMIT_AS, memory_bytes)
    try:
        yield
    finally:
        _set_limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def read_address_space_bytes() -> int:
    """Return how much address space the process uses; if that is unknown, more than it could have."""
    try:
        return _read_memory(0)
    except OSError:
        return 1 << 48


def read_resident_bytes() -> int:
    """Return the resident memory of the process; if that is unknown, its peak so far."""
    try:
        return _read_memory(1)
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _read_memory(column: int) -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[column]) * _PAGE_BYTES


def _set_limit(kind: int, limit: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY and (limit == resource.RLIM_INFINITY or limit > hard):
        limit = hard
    with suppress(ValueError, OSError):  # where the system has no such limit
        resource.setrlimit(kind, (limit, hard))


def _watch_parent(parent_pid: int) -> None:
    while os.getppid() == parent_pid:
        time.sleep(_PARENT_LOOK_S)
    os._exit(0)
