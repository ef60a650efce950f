"""What pages say about themselves: where they stand, their labels, their versions, how fresh they are."""
