"""`fleet rollout`: start a new version of an endpoint, watch it, pause, resume and abort it."""
