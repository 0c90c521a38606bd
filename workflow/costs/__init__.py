"""What an attention variant costs: multiply-accumulates, memory, time."""
