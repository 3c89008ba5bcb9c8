"""Reports: figures, tables and JSON of results; one file per picture and per format."""
