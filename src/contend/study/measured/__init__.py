"""Measured studies: plans of many launches, run cell by cell into a folder."""
