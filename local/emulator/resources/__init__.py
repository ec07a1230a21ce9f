"""CloudFormation resources that exist as checked properties only, and the API answers that read them."""
