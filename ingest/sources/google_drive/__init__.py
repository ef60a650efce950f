"""Google Drive by its API: `source` is the connector; `listing` and
`inventory` follow what changes, `readers` says who may read.
"""
