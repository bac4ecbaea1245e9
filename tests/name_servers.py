"""A name server for all that a test starts in a network of its own: there for some questions, and gone otherwise."""

import ctypes
import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest

_NEW_MOUNTS = 0x00020000
"""CLONE_NEWNS of Linux."""
_ADDRESS = ("127.0.0.1", 53)


def set_name_server(folder: Path) -> None:
    """Let what this thread starts ask no other name server. The thread must have a network of its own, and gets its own view of
    the files of this machine; where that is not permitted, the test is skipped and says so."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS):
        pytest.skip(f"name servers cannot be set here: {os.strerror(ctypes.get_errno())}")
    (folder / "resolv.conf").write_text(f"nameserver {_ADDRESS[0]}\n")
    for arguments in (["--make-rprivate", "/"], ["--bind", str(folder / "resolv.conf"), "/etc/resolv.conf"]):
        try:
            subprocess.run(["mount", *arguments], check=True, capture_output=True, text=True)
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            pytest.skip(f"name servers cannot be set here: {error}")


def answer_names(count: int) -> None:
    """Answer the next so many questions: every name has the address 127.0.0.1. Before and after, the system refuses them."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(_ADDRESS)
    threading.Thread(target=_answer, args=(listener, count), daemon=True).start()


def _answer(listener: socket.socket, count: int) -> None:
    with listener:
        for _ in range(count):
            question, source = listener.recvfrom(512)
            end = question.index(b"\0", 12) + 5
            is_ipv4 = question[end - 4 : end - 2] == b"\0\1"
            head = question[:2] + b"\x81\x80\0\1\0" + bytes([is_ipv4]) + b"\0\0\0\0"
            record = b"\xc0\x0c\0\1\0\1\0\0\x0e\x10\0\4\x7f\0\0\1" if is_ipv4 else b""
            listener.sendto(head + question[12:end] + record, source)
