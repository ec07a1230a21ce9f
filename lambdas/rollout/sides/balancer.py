"""The weights, in one rule of the listener, and the health of targets."""

from typing import Any

from fleet.rollout.facts import RolloutPlace, SidePlace
from lambdas.rollout.clients import BalancerClient


class WeightsError(Exception):
    """The rule is not one with the two target groups of the endpoint."""


class Listener:
    """Elastic Load Balancing."""

    def __init__(self, balancer: BalancerClient) -> None:
        self._balancer = balancer

    def weights(self, place: RolloutPlace) -> tuple[int, int]:
        """Percent of the requests for the stable side and for the candidate, read from the rule.

        Weights are shares of their sum: 1 to 1 is read as 50 to 50.

        Raises:
            WeightsError: the rule has other target groups.
        """
        (rule,) = self._balancer.describe_rules(RuleArns=[place.rule])["Rules"]
        (action,) = rule["Actions"]
        groups: list[dict[str, Any]] = action.get("ForwardConfig", {}).get("TargetGroups", [])
        weights = {group["TargetGroupArn"]: int(group.get("Weight", 1)) for group in groups}
        if weights.keys() != {place.stable.target_group, place.candidate.target_group} or not sum(weights.values()):
            raise WeightsError(f"rule {place.rule} forwards to {weights}, not to the endpoint's two target groups")
        candidate = round(100 * weights[place.candidate.target_group] / sum(weights.values()))
        return 100 - candidate, candidate

    def set_weights(self, place: RolloutPlace, candidate: int) -> None:
        """Send ``candidate`` percent to the candidate and the rest to the stable side, in one call."""
        shares = {place.stable.target_group: 100 - candidate, place.candidate.target_group: candidate}
        groups = [{"TargetGroupArn": arn, "Weight": weight} for arn, weight in shares.items()]
        forward = {"Type": "forward", "ForwardConfig": {"TargetGroups": groups}}
        self._balancer.modify_rule(RuleArn=place.rule, Actions=[forward])

    def healthy(self, side: SidePlace) -> int:
        """Targets that the load balancer calls healthy."""
        answer = self._balancer.describe_target_health(TargetGroupArn=side.target_group)
        return sum(each["TargetHealth"]["State"] == "healthy" for each in answer["TargetHealthDescriptions"])
