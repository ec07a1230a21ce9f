"""What a checkpoint is: its manifest, its keys in a store, when one is due, and which ones are kept."""
