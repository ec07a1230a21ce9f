"""Files for Alertmanager and Grafana."""

from environments import loader
from environments.alarm_export import followed, provisioning, routes

# Fields of AlertRuleV1 and QueryV1, Grafana's own types for the file (grafana/grafana,
# pkg/services/provisioning/alerting/rules_types.go, read 2026-11-23): a name that is not among them is dropped unsaid.
GRAFANA_RULE = {
    "uid", "title", "condition", "data", "dashboardUid", "panelId", "noDataState", "execErrState", "for",
    "keepFiringFor", "missing_series_evals_to_resolve", "annotations", "labels", "isPaused", "notification_settings",
    "record",
}  # fmt: skip
GRAFANA_QUERY = {"refId", "queryType", "relativeTimeRange", "datasourceUid", "model"}


def test_grafana_knows_every_name_in_its_file() -> None:
    rules = [rule for group in provisioning(followed(loader.load("prod")), "mine")["groups"] for rule in group["rules"]]
    assert {name for rule in rules for name in rule} <= GRAFANA_RULE
    assert {name for rule in rules for query in rule["data"] for name in query} <= GRAFANA_QUERY
    assert all(rule["data"][0]["datasourceUid"] == "mine" for rule in rules)
    assert all(rule["condition"] in {query["refId"] for query in rule["data"]} for rule in rules)
    uids = [rule["uid"] for rule in rules]
    assert len(uids) == len(set(uids))
    assert max(map(len, uids)) <= 40


def test_a_series_that_is_returned_is_breaching_whatever_its_value() -> None:
    (blind,) = (
        rule
        for rule in provisioning(followed(loader.load("prod"))[:1])["groups"][0]["rules"]
        if rule["labels"]["key"] == "NodeBlind"
    )
    assert blind["data"][1]["model"]["expression"] == "is_number($A)"
    assert (blind["for"], blind["keepFiringFor"], blind["noDataState"]) == ("300s", "300s", "OK")


def test_pages_and_tickets_have_a_receiver_each_and_nodes_of_a_job_are_one_message() -> None:
    made = routes()
    names = {receiver["name"] for receiver in made["receivers"]}
    assert names == {"neuron-fleet-page", "neuron-fleet-ticket"}
    assert {route["receiver"] for route in made["route"]["routes"]} | {made["route"]["receiver"]} == names
    assert [route["matchers"] for route in made["route"]["routes"]] == [['severity="page"'], ['severity="ticket"']]
    assert {"fleet", "job"} <= set(made["route"]["group_by"])
    assert "node" not in made["route"]["group_by"]
