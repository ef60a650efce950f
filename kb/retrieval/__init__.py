"""Retrieval: queries, anchors, hybrid search, fusion, reranking, and how much the evidence is worth."""
