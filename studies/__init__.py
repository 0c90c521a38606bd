"""Studies: a folder for each paper, and one for our own questions. No other code names a paper."""
