"""Routes of messages that take several ways at once, or one that is drawn."""
