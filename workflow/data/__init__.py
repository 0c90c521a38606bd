"""Data sets by name: embedded ones that every installation holds, and files that are looked for, then fetched."""
