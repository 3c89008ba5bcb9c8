"""Readers of topology files, one per format; each yields a `contend.fabric.subnet.Subnet`."""
