"""Data, batches, loss and score: one file per task."""
