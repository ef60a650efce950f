"""What a command does to a knowledge base: in this process, or in the one that owns the data folder."""
