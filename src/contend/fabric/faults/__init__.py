"""What of a fabric is wrong or unlike its like, without routes."""
