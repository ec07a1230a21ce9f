"""What every function shares: how it logs and how it counts."""
