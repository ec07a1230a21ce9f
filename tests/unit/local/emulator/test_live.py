"""The embedded AWS over boto3: from a metric to a page, under a virtual clock."""

import io
import json
import zipfile
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.emulator.conftest import Emulator

START = 1_790_000_040
FLEET = [{"Name": "Environment", "Value": "local"}, {"Name": "Fleet", "Value": "a"}]
GROUP = "/neuron-fleet/local/nodes"
PAGER = """
import json, os, urllib.request
import aws_lambda_powertools, boto3

def handler(event, context):
    message = json.loads(event["Records"][0]["Sns"]["Message"])
    queries = boto3.client("logs")
    query = queries.start_query(logGroupName=os.environ["GROUP"], startTime=0, endTime=2000000000,
                                queryString='fields @message | filter fleet = "a"')["queryId"]
    rows = queries.get_query_results(queryId=query)["results"]
    body = json.dumps({"message": message, "rows": len(rows)}).encode()
    urllib.request.urlopen(os.environ["AWS_ENDPOINT_URL"] + "/_local/inbox/slack", data=body, timeout=5)
"""


def _zipped(source: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("pager.py", source)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def topic(emulator: Emulator) -> str:
    """A topic whose subscriber is a Lambda function that queries the logs and posts to the inbox."""
    emulator.call("/_local/clock", {"now": START})
    function = emulator.client("lambda").create_function(
        FunctionName="pager",
        Runtime="python3.14",
        Handler="pager.handler",
        Role="arn:aws:iam::000000000000:role/pager",
        Code={"ZipFile": _zipped(PAGER)},
        Environment={"Variables": {"GROUP": GROUP}},
        Timeout=20,
    )
    notifications = emulator.client("sns")
    arn = str(notifications.create_topic(Name="page")["TopicArn"])
    notifications.subscribe(TopicArn=arn, Protocol="lambda", Endpoint=function["FunctionArn"])
    logs = emulator.client("logs")
    logs.create_log_group(logGroupName=GROUP)
    logs.create_log_stream(logGroupName=GROUP, logStreamName="a/i-1")
    event = {"timestamp": START * 1000, "message": json.dumps({"fleet": "a", "node": "i-1"})}
    logs.put_log_events(logGroupName=GROUP, logStreamName="a/i-1", logEvents=[event])
    return arn


def _put(emulator: Emulator, minute: int, **datum: Any) -> None:
    given = {"MetricName": "Utilization", "Dimensions": FLEET, "Timestamp": START + 60 * minute, **datum}
    emulator.client("cloudwatch").put_metric_data(Namespace="NeuronFleet", MetricData=[given])


def test_a_metric_below_its_threshold_becomes_one_page_and_its_end_another(emulator: Emulator, topic: str) -> None:
    watching = emulator.client("cloudwatch")
    alarm: dict[str, Any] = {
        "Namespace": "NeuronFleet",
        "MetricName": "Utilization",
        "Dimensions": FLEET,
        "Statistic": "Average",
        "Period": 60,
        "EvaluationPeriods": 3,
        "DatapointsToAlarm": 2,
        "Threshold": 20.0,
        "ComparisonOperator": "LessThanThreshold",
        "TreatMissingData": "notBreaching",
    }
    watching.put_metric_alarm(AlarmName="local/a/Low", **alarm)
    watching.put_metric_alarm(AlarmName="local/a/Fault", **(alarm | {"MetricName": "HardwareErrors"}))
    watching.put_composite_alarm(
        AlarmName="local/a/LowUtilization",
        AlarmRule='ALARM("local/a/Low") AND NOT ALARM("local/a/Fault")',
        AlarmActions=[topic],
        OKActions=[topic],
    )

    changes = []
    for minute, value in enumerate([60.0, 5.0, 5.0, 60.0, 60.0]):
        _put(emulator, minute, Values=[value, value + 1], Counts=[30.0, 2.0], Unit="Percent")
        changes += emulator.call("/_local/clock", {"now": START + 60 * (minute + 1)})["transitions"]

    composite = [(c["from"], c["to"], c["at"]) for c in changes if c["alarm"] == "local/a/LowUtilization"]
    assert composite == [
        ("INSUFFICIENT_DATA", "OK", START + 60),
        ("OK", "ALARM", START + 180),
        ("ALARM", "OK", START + 300),
    ]
    pages = [page for page in emulator.call("/_local/inbox")["messages"] if page["channel"] == "slack"]
    assert [(page["body"]["message"]["NewStateValue"], page["received_at"]) for page in pages] == [
        ("OK", START + 60),
        ("ALARM", START + 180),
        ("OK", START + 300),
    ]
    alarmed = pages[1]["body"]
    assert alarmed["rows"] == 1
    assert alarmed["message"]["StateChangeTime"] == "2026-09-21T14:17:00.000+0000"
    assert alarmed["message"]["Region"] == "US East (Ohio)"
    assert alarmed["message"]["TriggeringChildren"][0]["Arn"].endswith(":alarm:local/a/Low")


def test_a_state_that_a_person_sets_is_a_page_by_the_time_it_is_answered(emulator: Emulator, topic: str) -> None:
    watching = emulator.client("cloudwatch")
    watching.put_metric_alarm(
        AlarmName="local/a/ByHand", AlarmActions=[topic], Namespace="NeuronFleet", MetricName="ByHand",
        Statistic="Average", Period=60, EvaluationPeriods=1, Threshold=1.0, ComparisonOperator="LessThanThreshold",
    )  # fmt: skip
    watching.set_alarm_state(AlarmName="local/a/ByHand", StateValue="ALARM", StateReason="a rehearsal")

    # The function that is told asks the embedded AWS itself.
    messages = [page["body"]["message"] for page in emulator.call("/_local/inbox")["messages"]]
    assert [each["NewStateReason"] for each in messages if each["AlarmName"] == "local/a/ByHand"] == ["a rehearsal"]
    watching.delete_alarms(AlarmNames=["local/a/ByHand"])


def test_metrics_come_back_by_exact_dimensions_and_through_math(emulator: Emulator, topic: str) -> None:
    _put(emulator, 0, MetricName="Tflops", Value=10.0)
    metric = {"Namespace": "NeuronFleet", "MetricName": "Tflops", "Dimensions": FLEET}
    other = {**metric, "Dimensions": FLEET[:1]}
    queries = [
        {"Id": "m1", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "p90"}},
        {"Id": "m2", "MetricStat": {"Metric": other, "Period": 60, "Stat": "Average"}},
        {"Id": "e1", "Expression": "FILL(m1, 0) * 2", "Label": "twice"},
    ]

    answer = emulator.client("cloudwatch").get_metric_data(
        MetricDataQueries=queries, StartTime=START, EndTime=START + 120, ScanBy="TimestampAscending"
    )

    found = {result["Id"]: (result["Label"], result["Values"]) for result in answer["MetricDataResults"]}
    assert found == {"m1": ("Tflops", [10.0]), "m2": ("Tflops", []), "e1": ("twice", [20.0, 0.0])}


def test_a_datum_that_aws_would_refuse_is_refused_with_its_code(emulator: Emulator, topic: str) -> None:
    with pytest.raises(ClientError) as refused:
        _put(emulator, 0, Values=[float(each) for each in range(151)])

    assert refused.value.response["Error"]["Code"] == "InvalidParameterValue"


def test_a_log_event_in_the_embedded_metric_format_is_a_metric(emulator: Emulator, topic: str) -> None:
    directive = {"Namespace": "NeuronFleet", "Dimensions": [["Environment"]], "Metrics": [{"Name": "PagesSent"}]}
    metadata = {"Timestamp": START * 1000, "CloudWatchMetrics": [directive]}
    message = json.dumps({"Environment": "local", "PagesSent": 3, "_aws": metadata})
    event = {"timestamp": START * 1000, "message": message}
    emulator.client("logs").put_log_events(logGroupName=GROUP, logStreamName="a/i-1", logEvents=[event])

    statistics = emulator.client("cloudwatch").get_metric_statistics(
        Namespace="NeuronFleet",
        MetricName="PagesSent",
        Dimensions=FLEET[:1],
        StartTime=START,
        EndTime=START + 60,
        Period=60,
        Statistics=["Maximum"],
    )

    assert [point["Maximum"] for point in statistics["Datapoints"]] == [3.0]


def test_an_unknown_query_command_is_a_malformed_query(emulator: Emulator, topic: str) -> None:
    with pytest.raises(ClientError, match="unmask") as refused:
        emulator.client("logs").start_query(logGroupName=GROUP, startTime=0, endTime=1, queryString="unmask x")

    assert refused.value.response["Error"]["Code"] == "MalformedQueryException"


def test_a_stack_makes_the_resources_that_only_exist_as_checked_properties(emulator: Emulator, topic: str) -> None:
    stacks, name = emulator.client("cloudformation"), "reserved"
    reservation = {"InstanceType": "trn1.32xlarge", "InstancePlatform": "Linux/UNIX", "InstanceCount": 4}
    template = {
        "Resources": {
            "Group": {"Type": "AWS::EC2::PlacementGroup", "Properties": {"Strategy": "cluster"}},
            "Reservation": {"Type": "AWS::EC2::CapacityReservation", "Properties": reservation},
        },
        "Outputs": {"Id": {"Value": {"Ref": "Reservation"}}},
    }

    stacks.create_stack(StackName=name, TemplateBody=json.dumps(template))
    stacks.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig={"Delay": 0.1})

    machines = emulator.client("ec2")
    (found,) = machines.describe_capacity_reservations()["CapacityReservations"]
    (output,) = stacks.describe_stacks(StackName=name)["Stacks"][0]["Outputs"]
    assert (found["CapacityReservationId"], found["TotalInstanceCount"]) == (output["OutputValue"], 4)
    assert machines.describe_placement_groups()["PlacementGroups"][0]["Strategy"] == "cluster"
    assert emulator.call("/_local/status")["resources"] == 2


def test_a_resource_type_that_nothing_handles_fails_the_deploy(emulator: Emulator, topic: str) -> None:
    template = {"Resources": {"Thing": {"Type": "AWS::Neptune::DBCluster", "Properties": {}}}}

    with pytest.raises(ClientError, match=r"Unrecognized resource types: \[AWS::Neptune::DBCluster\]"):
        emulator.client("cloudformation").create_stack(StackName="bad", TemplateBody=json.dumps(template))


def test_the_weights_of_a_rollout_are_kept(emulator: Emulator, topic: str) -> None:
    balancers, machines = emulator.client("elbv2"), emulator.client("ec2")
    subnets = [each["SubnetId"] for each in machines.describe_subnets()["Subnets"]][:2]
    balancer = balancers.create_load_balancer(Name="chat", Subnets=subnets)["LoadBalancers"][0]["LoadBalancerArn"]
    old, new = (
        balancers.create_target_group(Name=name, Protocol="HTTP", Port=80, TargetType="ip")["TargetGroups"][0]
        for name in ("old", "new")
    )
    weights = [
        {"TargetGroupArn": old["TargetGroupArn"], "Weight": 95},
        {"TargetGroupArn": new["TargetGroupArn"], "Weight": 5},
    ]
    forward = [{"Type": "forward", "ForwardConfig": {"TargetGroups": weights}}]

    balancers.create_listener(LoadBalancerArn=balancer, Protocol="HTTP", Port=80, DefaultActions=forward)

    (listener,) = balancers.describe_listeners(LoadBalancerArn=balancer)["Listeners"]
    assert listener["DefaultActions"][0]["ForwardConfig"]["TargetGroups"] == weights
