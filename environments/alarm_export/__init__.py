"""The alarms that follow jobs and nodes as files for other systems: one rule set, written down once, rendered here."""

from environments.alarm_export.alertmanager import routes
from environments.alarm_export.followed import Followed, followed
from environments.alarm_export.grafana import DATASOURCE, provisioning
from environments.alarm_export.prometheus import rule_file

__all__ = ["DATASOURCE", "Followed", "followed", "provisioning", "routes", "rule_file"]
