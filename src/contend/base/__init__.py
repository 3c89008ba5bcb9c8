"""What every room stands on: errors, units, names, files, schemas, progress and processes."""
