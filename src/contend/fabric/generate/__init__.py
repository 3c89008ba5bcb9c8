"""Fabrics from a few numbers: ``family:parameters`` becomes hosts, switches and cables."""
