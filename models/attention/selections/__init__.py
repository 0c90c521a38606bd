"""Which of a row's masked scores are kept. -inf stands for a key that is not visible or not kept."""
