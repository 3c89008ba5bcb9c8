"""Rails that somebody tells: files of them, and what they say of a fabric's hosts."""
