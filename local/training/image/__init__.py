"""What a training image brings on a machine that has none: torchrun, and as much of the frameworks as is called."""
