"""Packets one by one: the model, rounds carried out, who is held up, and jobs side by side."""
