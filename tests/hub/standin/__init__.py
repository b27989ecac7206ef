"""A stand-in for the Hugging Face Hub: HTTP on loopback, commits kept on disk, faults switched on by a test."""

from .faults import Fault
from .server import Hub
from .store import Store

__all__ = ["Fault", "Hub", "Store"]
