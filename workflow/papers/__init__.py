"""What the papers print, and their formulas."""
