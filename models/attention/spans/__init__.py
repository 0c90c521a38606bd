"""How far a head sees. x = 1 is the nearest visible key, x = 2 the one before it, and so on."""
