"""The two ECS services: what they run, and what they are told to run."""

from typing import Any, Final

from fleet.rollout.facts import RolloutPlace, Side, SidePlace
from lambdas.rollout.clients import EcsClient, SsmClient

# What DescribeTaskDefinition answers beyond what RegisterTaskDefinition takes (API references of both).
_ANSWERED_ONLY: Final = frozenset({
    "taskDefinitionArn", "revision", "status", "requiresAttributes", "compatibilities", "registeredAt", "registeredBy",
    "deregisteredAt",
})  # fmt: skip
_PAGES: Final = 10


class EcsServices:
    """ECS, and the parameter from which deployments read what the stable side runs."""

    def __init__(self, ecs: EcsClient, ssm: SsmClient) -> None:
        self._ecs, self._ssm = ecs, ssm

    def of(self, side: SidePlace) -> Side:
        """What runs there, by the service's deployments."""
        service = self._describe(side)
        deployments = service["deployments"]
        running = frozenset(str(each["taskDefinition"]) for each in deployments if each.get("runningCount"))
        # A deployment that ECS has rolled back by itself is settled as well; the version says that it is another one.
        settled = all(each.get("rolloutState", "COMPLETED") == "COMPLETED" for each in deployments)
        return Side(versions=running, is_settled=settled and len(deployments) == 1)

    def tasks(self, side: SidePlace) -> tuple[str, ...]:
        """Ids of the tasks that run: what the agent calls their jobs."""
        found: list[str] = []
        more: dict[str, object] = {}
        for _ in range(_PAGES):
            page = self._ecs.list_tasks(cluster=side.cluster, serviceName=side.service, desiredStatus="RUNNING", **more)
            found += (arn.rpartition("/")[2] for arn in page["taskArns"])
            if not page.get("nextToken"):
                break
            more = {"nextToken": page["nextToken"]}
        return tuple(found)

    def target(self, side: SidePlace) -> str:
        """The task definition that the service is told to run."""
        return str(self._describe(side)["taskDefinition"])

    def run(self, side: SidePlace, version: str) -> None:
        """Make the service run ``version``."""
        self._ecs.update_service(cluster=side.cluster, service=side.service, taskDefinition=version)

    def newest(self, place: RolloutPlace) -> str:
        """What was deployed last: a family without a revision is its newest active one."""
        return str(self._definition(place)["taskDefinitionArn"])

    def register(self, place: RolloutPlace, image: str) -> str:
        """What was deployed last, with another image."""
        definition = {key: value for key, value in self._definition(place).items() if key not in _ANSWERED_ONLY}
        definition["containerDefinitions"] = [
            {**container, "image": image} if container["name"] == place.container else container
            for container in definition["containerDefinitions"]
        ]
        # In a family of its own: the newest of the endpoint's family is what the environment's file says.
        registered = self._ecs.register_task_definition(**{**definition, "family": f"{place.family}-by-image"})
        return str(registered["taskDefinition"]["taskDefinitionArn"])

    def keep(self, place: RolloutPlace, version: str) -> None:
        """Let deployments leave the stable side at ``version``."""
        self._ssm.put_parameter(Name=place.version_parameter, Value=version, Overwrite=True)

    def _describe(self, side: SidePlace) -> dict[str, Any]:
        answer = self._ecs.describe_services(cluster=side.cluster, services=[side.service])
        if not answer["services"]:
            raise LookupError(f"there is no service {side.service} in cluster {side.cluster}")
        service: dict[str, Any] = answer["services"][0]
        return service

    def _definition(self, place: RolloutPlace) -> dict[str, Any]:
        definition: dict[str, Any] = self._ecs.describe_task_definition(taskDefinition=place.family)["taskDefinition"]
        return definition
