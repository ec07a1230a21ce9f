"""Hardware errors in the kernel log."""
