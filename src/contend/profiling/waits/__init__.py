"""Who waited for whom: ranks that came late to collectives, senders and receivers of messages."""
