"""How this process runs torch. Call `prepare` in the thread that will run a model, before anything imports torch."""

from __future__ import annotations

import os


def prepare(threads: int) -> None:
    """Lets torch use `threads` cores (0: all that the process may use) in the calling thread, and stay quiet.

    OpenMP's threads spin while they wait for each other. Where another process, or a second model, wants the same
    cores, they spin on each other's time: two short questions took 865 ms instead of 34 on two busy cores. So they
    are told to sleep; a deployment that owns its cores may set OMP_WAIT_POLICY itself.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch
    from transformers.utils import logging as transformers_logging

    torch.set_num_threads(threads or _usable_cores())
    transformers_logging.disable_progress_bar()


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
