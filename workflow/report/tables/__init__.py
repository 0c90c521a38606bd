"""One pure function per table: `build(runs) -> cells`."""
