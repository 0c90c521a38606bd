"""How kept scores become weights. Every row holds at least one finite score; -inf gets weight 0."""
