"""Which network addresses a crawler may connect to: public ones alone.

A page of a website can name any host, and any host's DNS can name any address: this machine, its network, the metadata
service of its cloud. So the check is made on the very address that a socket is about to connect to, after all
resolving. There is no second look-up that could be answered otherwise (DNS rebinding).
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from aiohttp import AddrInfoType

MayReach = Callable[[str], bool]

_NAT64 = IPv6Network("64:ff9b::/96")


class ForbiddenAddressError(PermissionError):
    """A name leads to an address that is not public."""

    def __init__(self) -> None:
        super().__init__(errno.EACCES, "it leads to a private or local network address")


def is_public(written: str) -> bool:
    """Whether an IP address belongs to the public internet, looking into IPv6 addresses that wrap an IPv4 one."""
    parsed = ip_address(written.partition("%")[0])
    wrapped = _wrapped(parsed) if isinstance(parsed, IPv6Address) else None
    return all(address.is_global and not address.is_multicast for address in (parsed, wrapped) if address)


def guarded_socket(may_reach: MayReach) -> Callable[[AddrInfoType], socket.socket]:
    """Returns a socket factory for aiohttp, which hands it each address that it is about to connect to.

    Raises:
        ForbiddenAddressError: by the factory; aiohttp wraps it in a `ClientConnectorError`.
    """

    def make(info: AddrInfoType) -> socket.socket:
        family, kind, protocol, _, address = info
        if not may_reach(str(address[0])):
            raise ForbiddenAddressError
        return socket.socket(family=family, type=kind, proto=protocol)

    return make


def _wrapped(address: IPv6Address) -> IPv4Address | None:
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)
