"""What a net is asked to do: batches, loss, score. `spec` names the tasks; a file of a task's own computes it."""
