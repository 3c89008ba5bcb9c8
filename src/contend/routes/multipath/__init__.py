"""Multipath routes: messages take several paths at once, or one that is drawn."""
