"""`make bench-peers`: Footnote beside other retrieval libraries, on the
same passages, questions and embedding model.
"""
