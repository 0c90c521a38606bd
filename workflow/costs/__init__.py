"""What a way of attending costs: multiply-accumulates, memory, time."""
