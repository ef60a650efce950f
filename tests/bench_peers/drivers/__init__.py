"""One module a peer, run in the environment of that peer."""
