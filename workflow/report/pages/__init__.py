"""Pages from what the rules have written: each builder gives a template's context, and nothing else
knows a path.
"""
