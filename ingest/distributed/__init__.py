"""Shares the pages of a sync with other processes: `coordinator.py`, `worker.py`, and `page_queue.py` between them."""
