"""Files by which Slurm places jobs: trees of switches and blocks of near nodes."""
