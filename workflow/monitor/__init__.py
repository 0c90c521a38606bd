"""How long runs will take, and how far they are."""
