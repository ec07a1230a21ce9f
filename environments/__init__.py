"""What differs between environments: one YAML file each, typed and validated."""
