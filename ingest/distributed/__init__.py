"""A sync's pages, shared with other processes: `coordinator.py` hands out, `worker.py` works, `lane.py` is the Redis between."""
