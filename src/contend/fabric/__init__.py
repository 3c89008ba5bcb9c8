"""Fabrics: hosts, switches and channels; read, written, generated and described."""
