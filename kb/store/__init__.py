"""Redis or Valkey, and the data folder: whatever outlives the process beside the index."""
