"""The documentation itself: links, the index, commands that are quoted, output that is shown."""
