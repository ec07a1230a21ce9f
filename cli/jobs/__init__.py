"""`fleet jobs`: submit a training job, watch it, read its logs, stop it."""
