"""Stands in a Space's process during the tests: every attempt to reach another machine is written down and refused.

TRACE_TEST_REQUESTS names the file; TRACE_TEST_FORBIDDEN the packages that may not be imported, separated by commas.
"""

import importlib.abc
import os
import socket
import sys

_LOCAL = ("127.0.0.1", "::1", "localhost", "0.0.0.0", "", None)
_requests = os.environ.get("TRACE_TEST_REQUESTS")
_forbidden = tuple(filter(None, os.environ.get("TRACE_TEST_FORBIDDEN", "").split(",")))
_resolve, _connect = socket.getaddrinfo, socket.socket.connect


def _noted(host):
    host = host.decode() if isinstance(host, bytes) else host
    if host not in _LOCAL and host != socket.gethostname():
        with open(_requests, "a", encoding="utf-8") as file:
            file.write(f"{host}\n")
        raise OSError(f"the test allows no request to {host}")


def _getaddrinfo(host, *arguments, **options):
    _noted(host)
    return _resolve(host, *arguments, **options)


def _connecting(self, address):
    if isinstance(address, tuple):
        _noted(address[0])
    return _connect(self, address)


class _Forbidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in _forbidden:
            raise ModuleNotFoundError(f"No module named {name!r} (the test forbids it)", name=name)
        return


if _requests:
    socket.getaddrinfo, socket.socket.connect = _getaddrinfo, _connecting
if _forbidden:
    sys.meta_path.insert(0, _Forbidden())
