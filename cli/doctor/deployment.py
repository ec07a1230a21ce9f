"""What is deployed: the environment's stacks, why they failed, and the ids of their resources."""

from collections.abc import Iterable, Mapping
from typing import Final

from cli.doctor.account import DoctorAccount, UnansweredError
from fleet import naming
from planning.preflight.stacks import StackSeen

# What CloudFormation says of resources that it gave up because of another one.
_CONSEQUENCES: Final = ("Resource creation cancelled", "Resource update cancelled", "The following resource(s) failed")


def stacks(account: DoctorAccount, environment: str) -> dict[str, StackSeen]:
    """The stacks of ``environment`` by name, with reasons for those that failed."""
    prefix = naming.stack_name(environment, "")
    shown = [
        each
        for page in account.cloudformation.get_paginator("describe_stacks").paginate()
        for each in page.get("Stacks", [])
    ]
    seen = [StackSeen(each["StackName"], each["StackStatus"]) for each in shown if each["StackName"].startswith(prefix)]
    return {each.name: _explained(account, each) for each in seen}


def resources(
    account: DoctorAccount, environment: str, stack: str, kind: str, deployed: Mapping[str, StackSeen]
) -> list[str]:
    """The ids of the resources of type ``kind`` in a stack; none when the stack is not deployed."""
    name = naming.stack_name(environment, stack)
    if name not in deployed or not deployed[name].exists:
        return []
    listed = [
        each
        for page in account.cloudformation.get_paginator("list_stack_resources").paginate(StackName=name)
        for each in page.get("StackResourceSummaries", [])
    ]
    ids = [str(each.get("PhysicalResourceId", "")) for each in listed if each["ResourceType"] == kind]
    return [each for each in ids if each]


def _explained(account: DoctorAccount, stack: StackSeen) -> StackSeen:
    if not stack.has_failed:
        return stack
    try:
        events = [
            each
            for page in account.cloudformation.get_paginator("describe_stack_events").paginate(StackName=stack.name)
            for each in page.get("StackEvents", [])
        ]
    except UnansweredError:
        # That it failed is known and worth saying without the reason.
        return stack
    return StackSeen(stack.name, stack.status, _first_cause(events))


def _first_cause(events: Iterable[Mapping[str, object]]) -> str:
    """The oldest reason for a failure since the last deployment began; CloudFormation lists the newest event first."""
    cause = ""
    for event in events:
        status, reason = str(event.get("ResourceStatus", "")), str(event.get("ResourceStatusReason", ""))
        if status.endswith("_FAILED") and reason and not reason.startswith(_CONSEQUENCES):
            cause = f"{event.get('LogicalResourceId')}: {reason}"
        elif event.get("PhysicalResourceId") == event.get("StackId") and reason == "User Initiated":
            break
    return cause
