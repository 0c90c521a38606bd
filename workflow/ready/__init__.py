"""Scripts that begin in a process which has imported what they need: it is forked for each of them."""
