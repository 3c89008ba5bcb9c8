"""What is on this machine: what contend can do here, and MPI libraries."""
