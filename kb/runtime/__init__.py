"""This process: its tasks, its event loop, timings, traces and faults."""
