"""CloudWatch Logs of the embedded AWS: metrics out of log events, and Logs Insights queries."""
