"""What a choice costs before it is made: options side by side, and when a migration has paid for itself."""
