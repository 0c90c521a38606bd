"""How a score knows the distance: score = content(q) . k + query(q) . keys, both over sqrt(d / h)."""
