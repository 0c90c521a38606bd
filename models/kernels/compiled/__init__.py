"""Attention and products in C for CPUs, compiled once on every machine that has a compiler."""
