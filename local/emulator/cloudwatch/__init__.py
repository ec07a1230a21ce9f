"""CloudWatch of the embedded AWS: metrics, metric math, alarms and their notifications, under a virtual clock."""
