"""Rated bisection bandwidth: the narrowest cut between two halves of the hosts."""
