"""What a training process is told, and tells: that it must let go, at which step to save, that it saves now."""
