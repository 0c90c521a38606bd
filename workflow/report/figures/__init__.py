"""What the figures of studies are drawn with: one look, one colour for each attention, and maps of
attention.
"""
