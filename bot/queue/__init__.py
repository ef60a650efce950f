"""The durable queue: questions accepted once, claimed, retried, and kept as dead letters when given up."""
