"""What can go wrong on a Hub, as a test asks for it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass
class Fault:
    """Answers requests that match, in place of the stand-in.

    Attributes:
        match: a regular expression over "METHOD /path".
        status: what is answered; ignored where the connection is dropped.
        times: how often; None for always.
        headers, body: of the answer.
        drop: `""`, `"during"` (close while the body is being sent), `"after"` (do the work, then close without an answer).
    """

    match: str
    status: int = 500
    times: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, object] = field(default_factory=lambda: {"error": "played fault"})
    drop: str = ""
    seen: int = 0

    def takes(self, request: str) -> bool:
        """Return whether this fault strikes this request, and count it."""
        if self.times is not None and self.seen >= self.times:
            return False
        if re.search(self.match, request) is None:
            return False
        self.seen += 1
        return True
