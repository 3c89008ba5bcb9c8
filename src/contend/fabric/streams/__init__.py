"""Files of any size, folders and archives as streams of bytes and lines."""
