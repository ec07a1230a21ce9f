"""The Lambda functions: each parses, calls its service, and emits."""
