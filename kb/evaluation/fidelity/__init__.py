"""What a document says, by a second reading that shares no code with the parsers, against what the index holds of it.

`reading` is what is compared, `markup` reads HTML into it, `originals` reads files into it (by `tools`: programs that
may be missing), `comparison` tells what was lost, added and moved.
"""
