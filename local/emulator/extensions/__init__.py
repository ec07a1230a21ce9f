"""All that is changed inside ministack: what it lacks is registered, what it gets wrong is replaced.

Written against the release that requirements-local.txt pins. Each function says which of ministack's names it touches.
"""

from ministack.core.responses import get_region

from local.emulator.capacity.account import Capacity
from local.emulator.clock import EmulatorClock
from local.emulator.cloudwatch.service import CloudWatch
from local.emulator.extensions.batch import answer_batch, wait_for_jobs
from local.emulator.extensions.ec2 import answer_ec2, stack_tags, zone_id
from local.emulator.extensions.ecs import keep_containers_whole
from local.emulator.extensions.faults import fail_where_injected
from local.emulator.extensions.hosting import serve_hosting
from local.emulator.extensions.launches import publish_images, show_launch_templates
from local.emulator.extensions.load_balancers import keep_weights
from local.emulator.extensions.observability import publisher, read_logs, serve_cloudwatch
from local.emulator.extensions.prices import serve_prices, serve_quotas
from local.emulator.extensions.resource_groups import keep_members_true
from local.emulator.extensions.scaling_policies import GroupScaling, follow_alarms
from local.emulator.extensions.settling import keep_instances
from local.emulator.extensions.stacks import register_resources
from local.emulator.logs.subscriptions import deliver_to_firehose
from local.emulator.platform import Platform
from local.emulator.resources.store import ResourceStore


def new_platform(account: str) -> Platform:
    """An empty account."""
    clock, resources = EmulatorClock(), ResourceStore()
    capacity = Capacity(account, resources, clock, zone_id, stack_tags)
    return Platform(account, publisher(account), capacity, clock, resources)


def install(platform: Platform) -> None:
    """Change ministack, once, before it serves its first request."""

    def cloudwatch_of_request() -> CloudWatch:
        return platform.cloudwatch(get_region())

    serve_cloudwatch(cloudwatch_of_request)
    register_resources(platform, cloudwatch_of_request)
    answer_ec2(platform)
    keep_members_true(platform)
    answer_batch(platform.capacity)
    wait_for_jobs(platform.capacity.jobs)
    keep_instances(platform)
    platform.scaling = GroupScaling(platform.account)
    follow_alarms(cloudwatch_of_request)
    serve_quotas(platform.capacity.quotas)
    serve_prices(platform.capacity.prices)
    serve_hosting(platform)
    read_logs(cloudwatch_of_request)
    deliver_to_firehose()
    keep_weights()
    publish_images()
    keep_containers_whole()
    show_launch_templates()
    # Last: it stands before every service that is there by now.
    fail_where_injected(platform.faults)
