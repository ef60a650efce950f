"""From evidence to what is replied. `reply` puts it together; `model` or `extract` writes the draft that it starts from."""
