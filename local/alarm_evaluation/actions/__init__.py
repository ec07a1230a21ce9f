"""What holds an alarm's actions back: a suppressor with its wait and extension, and mute rules."""
