"""Draw what the figures of studies share: one look, one set of colours, maps of attention."""
