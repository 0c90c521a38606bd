"""How long it will take, and how far it is."""
