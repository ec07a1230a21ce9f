"""Where graphs lie: on local disk, on the shared file system, in S3. What is in a tier's folder is whole."""
