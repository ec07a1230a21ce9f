"""The rule file that Prometheus loads."""

import json
from pathlib import Path

from environments import loader
from environments.alarm_export import followed, rule_file
from tests.support.needs import needs
from tests.support.promtool import check_rules

pytestmark = needs("promtool")


def test_prometheus_takes_the_rules_of_every_fleet(tmp_path: Path) -> None:
    fleets = followed(loader.load("prod"))
    (tmp_path / "rules.yml").write_text(json.dumps(rule_file(fleets)), encoding="utf-8")
    said = check_rules(tmp_path / "rules.yml")
    assert f"SUCCESS: {sum(len(fleet.rules) for fleet in fleets)} rules found" in said
    assert len(fleets) == len({fleet.fleet for fleet in fleets}) > 1


def test_a_rule_says_whom_to_tell_and_what_to_do() -> None:
    first = followed(loader.load("prod"))[0]
    rules = {rule["alert"]: rule for rule in rule_file([first])["groups"][0]["rules"]}
    fault = rules["HardwareFault"]
    where = {"environment": "prod", "fleet": first.fleet, "owner": first.owner}
    assert fault["labels"] == {**where, "severity": "page", "area": "health"}
    assert "for" not in fault
    assert fault["keep_firing_for"] == "10m"
    assert fault["annotations"]["runbook_url"].endswith("/HardwareFault.md")
    # A job's series say whose it is.
    assert "owner" not in rules["IdleAllocated"]["labels"]
    assert rules["IdleAllocated"]["for"] == "3m"
