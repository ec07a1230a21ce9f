"""The weights of a rollout, which ministack's load balancers forget.

Weights of an ELBv2 forward action, which ministack reduces to the first target group: read, keep, answer.
"""

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

from ministack.services import alb
from ministack.services.cloudformation import provisioners

Action = dict[str, Any]


def config_of_request(parameters: Mapping[str, list[str]], prefix: str) -> Action | None:
    """``prefix.ForwardConfig`` of a form-encoded request; ``None`` when there is none."""
    groups: list[Action] = []
    member = f"{prefix}.ForwardConfig.TargetGroups.member"
    while f"{member}.{len(groups) + 1}.TargetGroupArn" in parameters:
        at = f"{member}.{len(groups) + 1}"
        weight = int(parameters.get(f"{at}.Weight", ["1"])[0])
        groups.append({"TargetGroupArn": parameters[f"{at}.TargetGroupArn"][0], "Weight": weight})
    return {"TargetGroups": groups} if groups else None


def with_config(action: Action, config: Mapping[str, Any] | None) -> Action:
    """The action with its weights; it goes on to the heaviest group, as ministack sends to one only."""
    groups = list((config or {}).get("TargetGroups") or [])
    if action["Type"] != "forward" or not groups:
        return action
    heaviest = max(groups, key=lambda group: int(group.get("Weight", 1)))
    return {**action, "TargetGroupArn": heaviest["TargetGroupArn"], "ForwardConfig": {"TargetGroups": groups}}


def config_xml(action: Mapping[str, Any]) -> str:
    """The action's ForwardConfig as the API answers it; empty without one."""
    groups = action.get("ForwardConfig", {}).get("TargetGroups", [])
    if not groups:
        return ""
    members = "".join(
        f"<member><TargetGroupArn>{escape(group['TargetGroupArn'])}</TargetGroupArn>"
        f"<Weight>{int(group.get('Weight', 1))}</Weight></member>"
        for group in groups
    )
    return f"<ForwardConfig><TargetGroups>{members}</TargetGroups></ForwardConfig>"


def keep_weights() -> None:
    """``alb._parse_actions`` and ``_action_xml`` for the API, ``_elbv2_listener_actions`` for templates."""
    parse, answer, of_template = alb._parse_actions, alb._action_xml, provisioners._elbv2_listener_actions

    def parse_actions(parameters: Mapping[str, list[str]], prefix: str = "DefaultActions") -> list[dict[str, Any]]:
        return [
            with_config(action, config_of_request(parameters, f"{prefix}.member.{number}"))
            for number, action in enumerate(parse(parameters, prefix), start=1)
        ]

    def action_xml(action: Mapping[str, Any]) -> str:
        return str(answer(action)).removesuffix("</member>") + config_xml(action) + "</member>"

    def template_actions(
        properties: Mapping[str, Any], load_balancer: str | None, prop: str = "DefaultActions"
    ) -> list[dict[str, Any]]:
        made = of_template(properties, load_balancer, prop)
        return [
            with_config(action, asked.get("ForwardConfig"))
            for action, asked in zip(made, properties.get(prop) or [], strict=True)
        ]

    alb._parse_actions = parse_actions
    alb._action_xml = action_xml
    provisioners._elbv2_listener_actions = template_actions
