"""The truth table: what each recorded and each made shape must publish, worked out by hand from the raw figures."""
