"""What an environment file may say of all that is deployed: a row for each key."""

from typing import Final

from tests.support.environment_options import ACCOUNT, LONG, ODD_TEXT, OWNERS, ROLE, Option

OF_ENVIRONMENT: Final = (
    Option("name", ["ab", LONG, "a-1"], ["a", "Prod", LONG + "4", "a_b"]),
    Option("owner", OWNERS, ODD_TEXT),
    Option("network.cidr", ["10.0.0.0/20", "172.16.0.0/16", "100.64.0.0/18"], ["10.0.0.0/27", "8.8.0.0/16", "::/0"]),
    Option("network.nat_gateways", [1, 2, 3], [0, 4]),
    Option("approvers", [[ROLE], [ROLE, f"arn:aws:iam::{ACCOUNT}:user/a"]], [[ROLE] * 11, ["me"]]),
    Option("approvers", [[f"arn:aws:iam::{ACCOUNT}:role/{n}" for n in range(10)]], [[ROLE + "x" * 500] * 10]),
    Option("budgets", [{"monthly_usd": 3000}], [{"monthly_usd": 0}]),
    Option("budgets.owners", [{"ml": 10}, {"a:b": 5.5, "c": 1}], [{"ü": 1}, {"": 1}, {f"o{n}": 1 for n in range(60)}]),
    Option("budgets.owners", [{"x" * 60: 1}], [{"x" * 256: 1}, {"a:b": 1, "a-b": 1}, {"a/b": 1, "a\\b": 1}]),
    Option("budgets.forecast_percent", [80, 120.5], [0]),
    Option("budgets.stop", ["never"], ["auto", "ask", "now"]),
    Option("budgets.approvers", [[ROLE]], [[], ["*"], [ROLE + "x" * 500] * 10]),
    Option("monitoring.period_seconds", [1, 60], [0]),
    Option("monitoring.log_retention_days", [7, 14, 90, 365], [8]),
    Option("monitoring.prometheus", [{"port": 9100}], [{}]),
    Option("monitoring.prometheus.address", ["0.0.0.0"], ["::"]),  # noqa: S104 - what a file may say
    Option("monitoring.otlp", [True, False, "rules", "nodes", "cores"], ["perhaps"]),
    Option("monitoring.alarms", ["classic"], ["perhaps"]),
    Option("monitoring.endpoint_dashboards", [True, False]),
    Option("monitoring.cloudwatch_usd_per_month", [5, 1000.5], [0]),
    Option("maintenance", [[{"name": "nightly", "reason": "a patch", "cron": "0 2 * * SUN", "minutes": 90}]]),
    Option("maintenance[0].time_zone", ["UTC", "Europe/Berlin"], ["Mars/Base"]),
    Option("maintenance[0].fleets", [["one"]], [["nobody"]]),
    Option("maintenance", [[{"name": LONG, "reason": "r" * 200, "at": "2026-12-24T18:00", "minutes": 21600}]]),
    Option(
        "maintenance", [[{"name": f"w{n}", "reason": "r", "cron": "0 2 1 JAN-MAR *", "minutes": 1} for n in range(5)]]
    ),
    Option("maintenance[0].reason", ["a 'patch'"], ODD_TEXT),
    Option("retain_data", [False], [True]),
    Option("plain_http", [False], [True]),
    Option("retain_data", [True]),
    Option("paging.runbooks_url", ["https://example.com/a"], ODD_TEXT),
    Option("paging.pagerduty_secret", ["a", "a/" + "b" * 400], ["", "x" * 513, "a b"]),
    Option("paging.slack_secret", ["b", "b-AbCdEf", "a_+=.@-/b"], ["ü"]),
    Option(
        "paging.destinations",
        [
            [{"kind": "email", "name": "leads", "addresses": ["a@example.com", "b+c@example.com"]}],
            [
                {"kind": "pagerduty", "name": "pd", "secret": "s/pd"},
                {"kind": "slack", "name": LONG, "secret": "s/slack"},
                {"kind": "webhook", "name": "hook", "secret": "s/hook"},
            ],
            [
                {"kind": "email", "name": f"mail-{n}", "addresses": [f"{m}@example.com" for m in range(20)]}
                for n in range(10)
            ],
        ],
        [
            [{"kind": "email", "name": "slack", "addresses": ["a@example.com"]}],
            [{"kind": "email", "name": "m", "addresses": ["a"]}],
            [
                {"kind": "email", "name": "a-b", "addresses": ["a@b.c"]},
                {"kind": "email", "name": "ab", "addresses": ["a@b.c"]},
            ],
            [{"kind": "email", "name": "ab", "addresses": ["a@b.c", "a@b.c"]}],
            [{"kind": "email", "name": "ab", "addresses": ["A@b.c", "a@b.c", "${X}@b.c"]}],
            [{"kind": "webhook", "name": f"hook-{n}", "secret": "s" * 500} for n in range(10)],
        ],
    ),
    Option("paging.routes", [[{"to": ["slack", "pagerduty"]}]], [[{"to": ["nobody"]}], [{"to": []}]]),
    Option("paging.routes[0].severity", ["page", "ticket"], ["loud"]),
    Option("paging.routes[0].owner", ["ml", "x" * 128], ["", "x" * 129]),
)
