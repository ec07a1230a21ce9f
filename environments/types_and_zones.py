"""Whether an environment can be computed with at all."""

from environments.model import Environment
from fleet.instances import catalogue


def can_be_planned(environment: Environment) -> bool:
    """Whether every fleet is of a known type and in a zone of the network; each that is not is an error elsewhere."""
    zones = environment.network.availability_zones
    return all(fleet.instance_type in catalogue() for fleet in environment.fleets) and all(
        fleet.availability_zone in zones for fleet in environment.training_fleets
    )
