"""CloudWatch dashboards, one module per audience, and the rendering of alarms."""
