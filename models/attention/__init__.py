"""Attention as a choice on five axes, each a folder: a choice is one file in it, and is named
nowhere else.

span        how far a head sees: x = 1 is the nearest visible key, x = 2 the one before it, and so
on selection   which of a row's masked scores are kept; -inf marks a key that is not visible or
not kept normaliser  how kept scores become weights; every row holds a finite score at least, and
-inf gets weight 0 position    what a score gets for the distance between query and key
"""
