"""One loop for every variant."""
