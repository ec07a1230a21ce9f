"""Can nodes be launched from the deployed templates, and do they reach each other?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fleet.capacity.interfaces import GroupRule, diagnose_peers
from fleet.diagnostics import Diagnostic, note, refuse, warn


def diagnose_security_groups(rules: Mapping[str, Sequence[GroupRule]]) -> Iterator[Diagnostic]:
    """Errors unless one of a node's security groups lets its members send each other everything.

    ``rules`` are by group id, in the order of the launch template; when no group does, the findings are about the one
    that comes closest, and of equals about the last, which is the one for peers.
    """
    found = {group: list(diagnose_peers(group, of)) for group, of in rules.items()}
    if found:
        for finding in min(reversed(found.values()), key=len):
            yield replace(finding, path="efa")


def not_launched_yet(fleet: str) -> Diagnostic:
    """Other fleets are deployed, and this one is not."""
    text = f"{fleet} has no launch template yet: a launch is tried, without being made, after its first deployment"
    return note("launch-not-tried", "", fleet, text)


def template_differs(fleet: str, has: str, wanted: str) -> Diagnostic:
    """The deployed template is of an older version of the file."""
    text = f"the deployed launch template of {fleet} is for {has}, and the file says {wanted}"
    return warn("launch-template-old", "instance_type", wanted, text, "deploy the file")


def launch_refused(fleet: str, code: str, message: str) -> Diagnostic:
    """EC2 RunInstances with DryRun: permissions and parameters are checked, capacity is not."""
    text = f"EC2 would not launch a node of {fleet}: {code}: {message}"
    return refuse("launch-refused", "", fleet, text, "correct what EC2 names, and deploy again")
