"""What workloads say of themselves over StatsD: tokens, samples, loss, steps, checkpoints."""
