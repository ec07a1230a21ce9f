"""Batch's jobs: submitted, given nodes, started, ended, tried again. Whose nodes run them is for others to say."""
