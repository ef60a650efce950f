"""The parts of rewriting. `kb.rewriting.rewriter` is the door: the port,
the choice between the rewriters, and both of them.
"""
