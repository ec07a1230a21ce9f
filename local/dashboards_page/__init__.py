"""The deployed CloudWatch dashboards as a local web page, drawn from whatever endpoint is given."""
