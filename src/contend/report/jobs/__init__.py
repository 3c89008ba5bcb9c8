"""What is reported of calibrations and predictions."""
