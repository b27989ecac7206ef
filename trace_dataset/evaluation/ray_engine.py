"""Shards on a Ray cluster (extra `ray`): Ray schedules, retries and moves; the shards are written here.

The job goes to the cluster once. A task that was lost with its node is run again by Ray, on whatever node is left.
"""

from __future__ import annotations

import importlib
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from hydrate.errors import TraceError, UsageError
from trace_dataset.evaluation.engines import Tally
from trace_dataset.evaluation.job import Job
from trace_dataset.evaluation.responses import StoredResponse
from trace_dataset.evaluation.run_folder import RunFolder

HOW_TO_INSTALL = "pip install 'trace-dataset[ray]'"
PATIENCE = 10.0  # seconds until a cluster has to answer
_prepared: dict[str, Job] = {}  # of a worker process, by the job's object id


def on_ray(job: Job, run: RunFolder, numbers: Sequence[int], tally: Tally, address: str) -> Iterator[None]:
    """Answer shards on the cluster at an address; `local` starts one on this machine for the time of the run.

    Every node needs this package, and the same version of it.

    Raises:
        UsageError: Ray is not installed, or no cluster answers.
        TraceError: the baseline could not be prepared there, or a turn failed in a strict run.
    """
    ray = import_ray()
    started = not ray.is_initialized()
    if started:
        _connect(ray, address)
    try:
        module = sys.modules[type(job.baseline).__module__]
        if not module.__name__.startswith("trace_dataset."):
            ray.cloudpickle.register_pickle_by_value(module)  # a folder's module is on no other machine
        shared = ray.put(job)
        task = ray.remote(_answer_shard).options(max_retries=-1, num_cpus=1)
        left = {task.remote([shared], number): number for number in numbers}
        while left:
            done, _ = ray.wait(list(left), num_returns=1)
            for reference in done:
                try:
                    answers: list[StoredResponse] = ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    raise _ours(error) from None
                run.write_shard(left.pop(reference), answers)
                tally.count(answers, dialogues=len({answer.dialogue_id for answer in answers}))
            yield
    finally:
        if started:
            ray.shutdown()


def import_ray() -> ModuleType:
    """Import Ray when it is first needed; raises `UsageError` where it is not installed."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        return importlib.import_module("ray")
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise UsageError("--ray needs the package ray, which is not installed", do=HOW_TO_INSTALL) from None


def _connect(ray: Any, address: str) -> None:
    try:
        if address == "local":
            ray.init(include_dashboard=False, log_to_driver=False)
            return
        host, _, port = address.partition(":")
        if port.isdigit():
            socket.create_connection((host, int(port)), timeout=PATIENCE).close()  # Ray itself would try for minutes
        ray.init(address=address, log_to_driver=False)
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(
            f"no Ray cluster answers at {address}: {str(error).splitlines()[0]}",
            do="give the address that `ray start --head` printed, or --ray local",
        ) from None


def _answer_shard(shared: list[Any], number: int) -> list[StoredResponse]:
    """Answer one shard on some node; the job is fetched and prepared once a process."""
    ray = import_ray()
    key = shared[0].hex()
    if key not in _prepared:
        job: Job = ray.get(shared[0])
        job.prepare()
        _prepared[key] = job
    return list(_prepared[key].shard(number))


def _ours(error: Any) -> TraceError:
    """Return the error that a task raised, as it was raised, where it is one of ours."""
    cause = error.cause
    if isinstance(cause, TraceError):
        return cause
    return TraceError(f"a task failed on the cluster: {type(cause).__name__}", do="look into Ray's logs on that node")
