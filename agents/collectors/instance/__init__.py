"""What AWS says about the instance, by its metadata service."""
