"""Importing libraries of thousands of modules without the garbage collector walking over them again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quick_imports() -> Iterator[None]:
    """Pauses collection while the block imports, and exempts what it left behind from collection for good.

    Modules live as long as the process and are no garbage. Collecting while torch and its like are imported costs a
    fifth of a start; afterwards each full collection would walk their 700,000 objects with the whole process standing
    still (0.5 to 2 s). The documentation of `gc.freeze` tells to do it so.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
