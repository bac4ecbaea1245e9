"""Which addresses a crawler of the public web may ask."""

import pytest

from rdfspider.fetch.targets import is_private_host, is_refused, is_same_address


@pytest.mark.parametrize(
    "address",
    "0.0.0.0 0.1.2.3 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.9.9.9 169.254.169.254 172.16.0.1 172.31.255.255 "
    "192.0.0.192 192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 224.0.1.1 239.1.1.1 240.0.0.1 "
    "255.255.255.255 168.63.129.16 :: ::1 fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 fec0::1 ff02::1 ff0e::1 2001:db8::1 "
    "2001::1 100::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe ::7f00:1 ::127.0.0.1 2002:7f00:1:: 2002:c0a8:101::1 "
    "64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::808:808 "
    "3fff::1 5f00::1 4000::1 nonsense 1.2.3 example.org 0x7f.1 1".split(),
)
def test_refused_addresses(address: str) -> None:
    assert is_refused(address)


@pytest.mark.parametrize(
    "address",
    "8.8.8.8 1.1.1.1 172.32.0.1 11.0.0.1 193.99.144.80 2606:4700::1 2a00:1450:4001::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 "
    "2002:808:808::1".split(),
)
def test_public_addresses(address: str) -> None:
    assert not is_refused(address)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("::1", "0:0:0:0:0:0:0:1", True),
        ("2001:DB8::1", "2001:db8:0::1", True),
        ("8.8.8.8", "8.8.8.8", True),
        ("8.8.8.8", "8.8.4.4", False),
        ("8.8.8.8", "", False),
    ],
)
def test_spellings_of_one_address(one: str, other: str, expected: bool) -> None:
    assert is_same_address(one, other) is expected


@pytest.mark.parametrize(
    ("host", "is_private"),
    [
        ("127.0.0.1", True),
        ("[::1]", True),
        ("192.168.0.1", True),
        ("localhost", True),
        ("localhost.", True),
        ("a.localhost", True),
        ("router", True),
        ("printer.local", True),
        ("metadata.google.internal", True),
        ("8.8.8.8", False),
        ("[2606:4700::1]", False),
        ("example.org", False),
        ("local.example.org.", False),
        *((f"printer.{name}", True) for name in ("lan", "home", "corp", "intranet", "box", "localdomain")),
    ],
)
def test_hosts_that_are_private_by_name(host: str, is_private: bool) -> None:
    assert is_private_host(host) == is_private
