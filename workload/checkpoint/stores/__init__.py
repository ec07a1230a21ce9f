"""Where checkpoints are kept: a file system or S3, behind one interface."""
