"""A sync's pages, shared with other processes: `coordinator.py` hands
out, `worker.py` works, `page_queue.py` is the Redis between.
"""
