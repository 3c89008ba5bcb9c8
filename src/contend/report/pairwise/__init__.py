"""Documents of measured pairs of hosts: who was slow, and how measured and simulated agree."""
