"""AWS as the pager sees it: clients with their timeouts, and what is built on them. boto3 stays in this file."""

import time
from typing import Final

import boto3
from botocore.config import Config

from lambdas.pager.delivery_idempotency import Once
from lambdas.pager.destinations.sending import HttpPoster, Mail, Secrets, Senders
from lambdas.pager.enrichment import Sources
from lambdas.pager.incidents import IncidentTable
from lambdas.pager.log_events import CapacityEvent, EventQuery, NodeEvent, events_of, events_of_states
from lambdas.pager.messages import WaitingQueue
from lambdas.pager.metric_queries import ChangeMetrics, WasteMetric
from lambdas.pager.service import Dependencies
from lambdas.pager.settings import Settings

# A page must not wait for AWS: one retry, and a slow answer counts as none.
CONFIG: Final = Config(connect_timeout=1, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 2})
# What a metric says is the last thing asked for, and the page goes out without it.
METRICS_CONFIG: Final = Config(connect_timeout=0.5, read_timeout=1, retries={"total_max_attempts": 1})


def dependencies(settings: Settings) -> Dependencies:
    """All that a page needs."""
    dynamodb = boto3.client("dynamodb", config=CONFIG)
    return Dependencies(
        settings=settings,
        sources=_sources(settings),
        incidents=IncidentTable(dynamodb, settings.idempotency_table, time.time),
        senders=Senders(
            secrets=Secrets(boto3.client("secretsmanager", config=CONFIG)),
            http=HttpPoster(time.sleep),
            mail=Mail(boto3.client("sns", config=CONFIG)),
            now=time.time,
        ),
        once=Once(dynamodb, settings.idempotency_table),
        now=time.time,
    )


def _sources(settings: Settings) -> Sources:
    logs, nodes = boto3.client("logs", config=CONFIG), settings.node_log_group
    cloudwatch = boto3.client("cloudwatch", config=METRICS_CONFIG)
    return Sources(
        nodes=EventQuery(logs, nodes, events_of(NodeEvent), time),
        # A metric is asked for afterwards.
        states=EventQuery(logs, nodes, events_of_states, time, budget=3.5),
        capacity=EventQuery(logs, settings.capacity_log_group, events_of(CapacityEvent), time),
        waste=WasteMetric(cloudwatch, settings.environment),
        changes=ChangeMetrics(cloudwatch, settings.environment),
        large_fleets=settings.large_fleets,
    )


def waiting_queue(settings: Settings) -> WaitingQueue:
    """The queue of what is tried again."""
    return WaitingQueue(boto3.client("sqs", config=CONFIG), settings.waiting_queue)
