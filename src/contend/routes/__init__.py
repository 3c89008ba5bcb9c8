"""Routes: forwarding tables; read, written, computed, checked and followed."""
