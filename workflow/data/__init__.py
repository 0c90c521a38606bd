"""Texts by name: embedded ones that every installation holds, and real ones that are looked for, then fetched."""
