"""Which sockets are open: by the descriptors, whoever closed them."""

import os
import socket

import pytest

from rdfspider.fetch.curl import OpenSockets, Socket


def test_a_closed_descriptor_and_one_that_was_given_again_are_not_counted() -> None:
    sockets = OpenSockets()
    with socket.socket() as first, socket.socket() as second, socket.socket() as third:
        for each in (first, second):
            os.set_inheritable(each.fileno(), True)
            sockets.add(each.fileno())
        assert sockets.count() == 2
        assert not first.get_inheritable()
        os.dup2(third.fileno(), second.fileno())
        assert sockets.count() == 1
        first.close()
        assert sockets.count() == 0


def test_a_socket_closes_when_nobody_holds_it() -> None:
    made = Socket()
    descriptor = made.fileno()
    os.fstat(descriptor)
    del made
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
