"""CDK only: one Platform stage per environment, one stack per lifecycle."""
