"""Profiles of MPI programs: tables, figures and JSON."""
