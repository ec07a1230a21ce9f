"""A launch template with one EFA interface on every network card, or a plain interface where there is no EFA."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from aws_cdk import CrossStackReferences, Fn, ReferenceStrength, Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from fleet.capacity import LaunchPlan, NetworkInterface

# Neuron container images take 15 to 20 GB each, and compilers work on this disk.
ROOT_VOLUME_GIB: Final = 256
ROOT_DEVICE: Final = "/dev/xvda"
# Containers on a bridge or in their own network namespace are one hop further from the metadata service than their
# host, and training frameworks read the region and instance type from it.
METADATA_HOP_LIMIT: Final = 2


@dataclass(frozen=True, slots=True)
class Node:
    """What a node is besides its launch plan. Names and ids may be CloudFormation references."""

    image_id: str
    instance_profile_arn: str
    security_group_ids: list[str]
    user_data: str
    tags: Mapping[str, str]
    placement_group_name: str | None
    reservation_group_arn: str | None
    """The group that the fleet's own reservations are put into, if reservations are made for it here."""


class EfaLaunchTemplate(Construct):
    """Attribute: ``template``. An L1, because the L2 has neither network interfaces nor capacity reservations."""

    def __init__(self, scope: Construct, construct_id: str, *, plan: LaunchPlan, node: Node) -> None:
        """Write ``plan`` down in EC2's terms. Security groups lie in the interfaces, as EC2 demands with several."""
        super().__init__(scope, construct_id)
        self._data = ec2.CfnLaunchTemplate.LaunchTemplateDataProperty(
            instance_type=plan.instance_type.name,
            image_id=node.image_id,
            iam_instance_profile=ec2.CfnLaunchTemplate.IamInstanceProfileProperty(arn=node.instance_profile_arn),
            network_interfaces=[_interface(nic, node.security_group_ids) for nic in plan.network_interfaces],
            block_device_mappings=[_root_volume()],
            metadata_options=ec2.CfnLaunchTemplate.MetadataOptionsProperty(
                http_tokens="required", http_put_response_hop_limit=METADATA_HOP_LIMIT
            ),
            instance_market_options=_market(plan.market_type) if plan.market_type else None,
            capacity_reservation_specification=_target(
                plan.reservation_id, plan.reservation_group or node.reservation_group_arn
            ),
            placement=_placement(node.placement_group_name) if node.placement_group_name else None,
            user_data=Fn.base64(node.user_data),
            tag_specifications=_tags(node.tags),
        )
        self.template = ec2.CfnLaunchTemplate(self, "Template", launch_template_data=self._data)
        # Whoever launches nodes refers to the latest version, and CloudFormation refuses to change an exported value
        # that is in use: the first change of a template would be its last. A weak reference is not exported.
        CrossStackReferences.of(self.template).produce(ReferenceStrength.WEAK)

    @property
    def digest(self) -> str:
        """Changes when the template does. A launcher that carries it is updated with its nodes' template.

        The reference to the latest version reads the same in every version, so it would not be.
        """
        # As it was given: to ask the template for it would fetch every value of it over the bridge to Node again.
        data = Stack.of(self).resolve(self._data)
        return sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def _market(kind: str) -> ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty:
    return ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty(market_type=kind)


def _placement(group_name: str) -> ec2.CfnLaunchTemplate.PlacementProperty:
    return ec2.CfnLaunchTemplate.PlacementProperty(group_name=group_name)


def _interface(interface: NetworkInterface, groups: list[str]) -> ec2.CfnLaunchTemplate.NetworkInterfaceProperty:
    return ec2.CfnLaunchTemplate.NetworkInterfaceProperty(
        network_card_index=interface.network_card,
        device_index=interface.device,
        interface_type=interface.kind.value,
        groups=groups,
        delete_on_termination=True,
    )


def _root_volume() -> ec2.CfnLaunchTemplate.BlockDeviceMappingProperty:
    return ec2.CfnLaunchTemplate.BlockDeviceMappingProperty(
        device_name=ROOT_DEVICE,
        ebs=ec2.CfnLaunchTemplate.EbsProperty(
            encrypted=True, volume_type="gp3", volume_size=ROOT_VOLUME_GIB, delete_on_termination=True
        ),
    )


def _target(
    reservation_id: str | None, resource_group: str | None
) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty | None:
    if reservation_id is None and resource_group is None:
        return None
    # EC2 user guide, launch templates: a preference or a target, not both. "Capacity Reservation groups" there: a node
    # for which no reservation of its group is free runs on demand, and moves into a matching one that is added later.
    return ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty(
        capacity_reservation_target=ec2.CfnLaunchTemplate.CapacityReservationTargetProperty(
            capacity_reservation_id=reservation_id, capacity_reservation_resource_group_arn=resource_group
        )
    )


def _tags(tags: Mapping[str, str]) -> list[ec2.CfnLaunchTemplate.TagSpecificationProperty]:
    # Stack tags reach the template, but not what is launched from it.
    return [
        ec2.CfnLaunchTemplate.TagSpecificationProperty(
            resource_type=kind, tags=[{"key": key, "value": value} for key, value in tags.items()]
        )
        for kind in ("instance", "volume", "network-interface")
    ]
