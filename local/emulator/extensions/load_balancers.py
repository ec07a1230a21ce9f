"""The weights of a rollout, which ministack's load balancers forget."""

from collections.abc import Mapping
from typing import Any

from ministack.services import alb
from ministack.services.cloudformation import provisioners

from local.emulator.resources import weighted_forward


def keep_weights() -> None:
    """``alb._parse_actions`` and ``_action_xml`` for the API, ``_elbv2_listener_actions`` for templates."""
    parse, answer, of_template = alb._parse_actions, alb._action_xml, provisioners._elbv2_listener_actions

    def parse_actions(parameters: Mapping[str, list[str]], prefix: str = "DefaultActions") -> list[dict[str, Any]]:
        return [
            weighted_forward.with_config(
                action, weighted_forward.config_of_request(parameters, f"{prefix}.member.{number}")
            )
            for number, action in enumerate(parse(parameters, prefix), start=1)
        ]

    def action_xml(action: Mapping[str, Any]) -> str:
        return str(answer(action)).removesuffix("</member>") + weighted_forward.config_xml(action) + "</member>"

    def template_actions(
        properties: Mapping[str, Any], load_balancer: str | None, prop: str = "DefaultActions"
    ) -> list[dict[str, Any]]:
        made = of_template(properties, load_balancer, prop)
        return [
            weighted_forward.with_config(action, asked.get("ForwardConfig"))
            for action, asked in zip(made, properties.get(prop) or [], strict=True)
        ]

    alb._parse_actions = parse_actions
    alb._action_xml = action_xml
    provisioners._elbv2_listener_actions = template_actions
