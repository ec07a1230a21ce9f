"""The pager: an alarm's transition becomes one readable page in PagerDuty and Slack."""
