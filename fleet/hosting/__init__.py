"""Endpoints that Amazon SageMaker hosts: which instances it has, what it measures, and what it costs beside EC2."""
