"""The parts of rewriting. `kb.rewrite` is the door: the port, the choice between the rewriters, and both of them."""
