"""Two pure functions per figure: `data(runs)` gives the numbers behind it, `draw(data)` the picture."""
