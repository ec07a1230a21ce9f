"""`fleet prices`, and the price table as every other command reads it."""
