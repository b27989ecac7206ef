"""Serves a GGUF model over HTTP on loopback until its standard input closes. Run by `local.LocalServer` as a process.

A script of its own: it needs `xllamacpp` and nothing of ours, and it must not outlive the process that started it, however
that ends: the pipe closes with it.
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Serve `argv[1]` under the alias `argv[2]` with `argv[3]` tokens of context; print the address once it listens."""
    import xllamacpp

    model, alias, context = sys.argv[1], sys.argv[2], int(sys.argv[3])
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {alias}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx, params.n_parallel = context, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # more threads spin and starve each other
    params.cache_prompt = False  # a warm cache gives other answers than a cold one
    params.cache_ram_mib = 0
    params.warmup = False
    params.verbosity = -1
    server = xllamacpp.Server(params)
    sys.stdout.write(server.listening_address + "\n")
    sys.stdout.flush()
    sys.stdin.buffer.read()  # returns when the parent is gone
    os._exit(0)


if __name__ == "__main__":
    main()
