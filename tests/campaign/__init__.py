"""Mutated inputs of every kind, each of which contend accepts or refuses in one line."""
