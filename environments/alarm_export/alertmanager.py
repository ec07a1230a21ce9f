"""Routes of Alertmanager for the rules: pages and tickets to receivers of their own, one message a job or kind.

Source: Alertmanager documentation, "Configuration" (``route``, ``inhibit_rules``, ``receivers``), read 2026-11-23. The
receivers are empty: only who runs Alertmanager knows where its pages go, and an address may be a secret.
"""

from typing import Any, Final

from fleet.alarms import Severity

# Nodes of one job notice the same within minutes; another job's is another message.
_GROUPED: Final = ("environment", "fleet", "alertname", "job")
# A page repeats while nobody has ended it; a ticket once a day.
_REPEATED: Final = {Severity.PAGE: "4h", Severity.TICKET: "24h"}


def routes() -> dict[str, Any]:
    """The file as plain values, to be merged into one's own."""
    return {
        "route": {
            "receiver": _receiver(Severity.TICKET),
            "group_by": list(_GROUPED),
            "group_wait": "30s",
            "group_interval": "5m",
            "repeat_interval": _REPEATED[Severity.TICKET],
            "routes": [
                {
                    "receiver": _receiver(severity),
                    "matchers": [f'severity="{severity.value}"'],
                    "repeat_interval": _REPEATED[severity],
                }
                for severity in Severity
            ],
        },
        "inhibit_rules": [
            # That most of a fleet cannot be measured says of each node what its ticket would.
            {
                "source_matchers": ['alertname="FleetBlind"'],
                "target_matchers": ['alertname="NodeBlind"'],
                "equal": ["environment", "fleet"],
            }
        ],
        "receivers": [{"name": _receiver(severity)} for severity in Severity],
    }


def _receiver(severity: Severity) -> str:
    return f"neuron-fleet-{severity.value}"
