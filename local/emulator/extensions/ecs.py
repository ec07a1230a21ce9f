"""ECS on the instances of scaling groups: those whose user data join a cluster take tasks, and lose them when they end.

ministack has no container instances, and nothing is run: a task runs until it is stopped, its node ends, or somebody
says with SubmitTaskStateChange, as a node's ECS agent does, what it ended with.

Containers of task definitions that a stack makes, as the ECS API has them all the way down.

ministack changes the case of some members' members and leaves a health check's as the template has it, so that what
DescribeTaskDefinition answers cannot be registered again.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from ministack.core.responses import get_account_id, get_region
from ministack.services import ecs
from ministack.services.cloudformation import provisioners

from local.emulator.api.answers import Entry, served
from local.emulator.api.errors import AwsError, Response
from local.emulator.api.requests import service_model
from local.emulator.batch.casing import of_template
from local.emulator.extensions.nodes import Instance, Nodes

_LOOKS: Final = ("DescribeTasks", "ListTasks")
_Handler = Callable[[Mapping[str, Any]], Response]


def run_on_instances(nodes: Nodes, settle: Callable[[], None]) -> None:
    """``ecs._ACTION_MAP``: what lists and describes container instances and tasks, and StartTask."""

    def look(answer: _Handler, request: Mapping[str, Any]) -> Response:
        settle()
        _end_with_hosts(nodes)
        return answer(request)

    actions = ecs._ACTION_MAP
    for name in _LOOKS:
        actions[name] = partial(look, actions[name])
    actions["ListContainerInstances"] = partial(look, served("ecs", partial(_list, nodes)))
    actions["DescribeContainerInstances"] = partial(look, served("ecs", partial(_describe, nodes)))
    actions["SubmitTaskStateChange"] = served("ecs", _submit)
    actions["StartTask"] = partial(look, served("ecs", partial(_start, nodes)))


def _submit(request: Mapping[str, Any]) -> Entry:
    """What a node's ECS agent says of a task: here it is how a test, or a person, ends one."""
    found = ecs._tasks.get(request.get("task", ""))
    if found is None:
        raise AwsError("InvalidParameterException", f"The referenced task was not found: {request.get('task')}")
    if request.get("status") == "STOPPED":
        codes = [each["exitCode"] for each in request.get("containers", []) if "exitCode" in each]
        stop_code = "EssentialContainerExited" if codes else "TaskFailedToStart"
        code = codes[0] if codes else None
        ecs._mark_task_stopped(request["task"], found, request.get("reason", ""), stop_code, exit_code=code)
    return {"acknowledgment": "ACK"}


def _end_with_hosts(nodes: Nodes) -> None:
    for arn in list(ecs._tasks):
        task = ecs._tasks[arn]
        host = str(task.get("_host", ""))
        if host and task["lastStatus"] != "STOPPED" and nodes.member(host) is None:
            ecs._mark_task_stopped(arn, task, f"Host EC2 (instance {host}) terminated.", "TerminationNotice")


def _list(nodes: Nodes, request: Mapping[str, Any]) -> Entry:
    cluster = _cluster(request)
    return {"containerInstanceArns": [_arn(cluster, each) for each in nodes.joined(cluster)]}


def _describe(nodes: Nodes, request: Mapping[str, Any]) -> Entry:
    cluster = _cluster(request)
    wanted = set(request["containerInstances"])
    joined = {_arn(cluster, each): each for each in nodes.joined(cluster)}
    return {
        "containerInstances": [
            {
                "containerInstanceArn": arn,
                "ec2InstanceId": each["InstanceId"],
                "status": "ACTIVE",
                "agentConnected": True,
            }
            for arn, each in joined.items()
            if arn in wanted
        ],
        "failures": [{"arn": arn, "reason": "MISSING"} for arn in sorted(wanted - set(joined))],
    }


def _start(nodes: Nodes, request: Mapping[str, Any]) -> Entry:
    cluster = _cluster(request)
    joined = {_arn(cluster, each): each for each in nodes.joined(cluster)}
    started: Entry = {"tasks": [], "failures": []}
    for arn in request["containerInstances"]:
        if arn not in joined:
            started["failures"].append({"arn": arn, "reason": "MISSING"})
            continue
        asked = {key: value for key, value in request.items() if key != "containerInstances"}
        status, _, body = ecs._run_task({**asked, "launchType": "EC2"})
        answer = ecs.json.loads(body)
        if status != 200:
            raise AwsError(answer.get("__type", "ClientException"), answer.get("message", ""))
        (task,) = answer["tasks"]
        kept = ecs._tasks[task["taskArn"]]
        kept.update(containerInstanceArn=arn, _host=joined[arn]["InstanceId"])
        started["tasks"].append({**task, "containerInstanceArn": arn})
    return started


def _cluster(request: Mapping[str, Any]) -> str:
    return str(request.get("cluster", "default")).rpartition("/")[2]


def _arn(cluster: str, instance: Instance) -> str:
    # ECS makes up an id; the instance's own serves as well.
    return f"arn:aws:ecs:{get_region()}:{get_account_id()}:container-instance/{cluster}/{instance['InstanceId']}"


def keep_containers_whole() -> None:
    """``provisioners._normalize_container_defs``."""
    shape = service_model("ecs").shape_for("ContainerDefinition")

    def normalized(containers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [of_template(shape, container) for container in containers]

    provisioners._normalize_container_defs = normalized
