"""Writers of forwarding tables."""
