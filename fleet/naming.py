"""Names that people type or see: one function each, so that a name is composed in one place."""

import hashlib
from typing import Final

PROJECT: Final = "neuron-fleet"
# The subject of alarms about the platform's own machinery. Their keys differ from those of fleets, so a fleet of this
# name would do no harm.
PLATFORM: Final = "platform"
# At which a pool's node waits, while it is ended, until its job has saved.
DRAIN_HOOK: Final = "drain"
# At which a node waits that is to be stopped, or to serve, until it has what it needs.
PREPARE_HOOK: Final = "prepare"
# The key of the alarm that no metric has: a person raises it, to see that pages arrive.
PAGE_TEST: Final = "PageTest"


def stack_name(environment: str, stack: str) -> str:
    """The CloudFormation stack: ``neuron-fleet-prod-network``."""
    return f"{PROJECT}-{environment}-{stack}"


def alarm_name(environment: str, subject: str, alarm: str) -> str:
    """The alarm as it reads in a page: ``prod/trn1-pretrain/LowUtilization``. ``subject`` is a fleet or PLATFORM."""
    return f"{environment}/{subject}/{alarm}"


def split_alarm_name(name: str) -> tuple[str, str, str] | None:
    """Environment, subject and key of an alarm that ``alarm_name`` composed; None for any other alarm."""
    parts = name.split("/")
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 and all(parts) else None


def dashboard_name(environment: str, audience: str) -> str:
    """The CloudWatch dashboard; letters, digits, dash and underscore only."""
    return f"{PROJECT}-{environment}-{audience}"


def endpoint_audience(fleet: str) -> str:
    """The audience of an endpoint's own dashboard: whoever is on call for it."""
    return f"endpoint-{fleet}"


def mute_rule(environment: str, window: str) -> str:
    """The CloudWatch mute rule of a maintenance window."""
    return f"{PROJECT}-{environment}-{window}"


def node_log_group(environment: str) -> str:
    """Where every agent of an environment writes its node events."""
    return f"/{PROJECT}/{environment}/nodes"


def topic_name(environment: str, severity: str) -> str:
    """The topic that alarms of one severity speak to; the pager reads the severity off its name."""
    return f"{PROJECT}-{environment}-{severity}"


def bypass_pager_topic(environment: str) -> str:
    """The topic of what the pager may be unable to tell; no function stands behind it, people subscribe to it."""
    return f"{PROJECT}-{environment}-past-the-pager"


def waiting_queue(environment: str, function: str) -> str:
    """The queue of events that a function will try again for some hours."""
    return f"{PROJECT}-{environment}-{function}-waiting"


def mail_topic(environment: str, destination: str) -> str:
    """The topic whose subscribers are the people behind an e-mail destination of the pager."""
    return f"{PROJECT}-{environment}-mail-{destination}"


def pager_place_parameter(environment: str) -> str:
    """Where whoever tests the pager reads its table and its destinations."""
    return parameter_path(environment, "pager")


def dead_letter_queue(environment: str, function: str) -> str:
    """The queue of events that a function could not handle."""
    return f"{PROJECT}-{environment}-{function}-dead-letters"


def parameter_path(environment: str, *parts: str) -> str:
    """An SSM parameter that nodes read at boot."""
    return "/" + "/".join((PROJECT, environment, *parts))


def capacity_blocks_function(environment: str) -> str:
    """The Lambda function that people's commands about Capacity Blocks go to."""
    return f"{PROJECT}-{environment}-capacity-blocks"


def share_identifier(owner: str) -> str:
    """The owner's share of a job queue. AWS Batch takes letters and digits only; an owner without any is ``none``."""
    return "".join(letter for letter in owner if letter.isascii() and letter.isalnum())[:255] or "none"


def job_log_group(environment: str) -> str:
    """Where the containers of training jobs write."""
    return f"/{PROJECT}/{environment}/jobs"


def job_place_parameter(environment: str, fleet: str) -> str:
    """Where whoever submits a job reads the fleet's queue and job definition."""
    return parameter_path(environment, "jobs", fleet)


def prices_table(environment: str) -> str:
    """The table of the prices that AWS was asked for; nodes, functions and people read it."""
    return f"{PROJECT}-{environment}-prices"


def prices_function(environment: str) -> str:
    """The Lambda function that asks AWS for prices; people may have it ask now."""
    return f"{PROJECT}-{environment}-prices"


def cluster_name(environment: str, fleet: str) -> str:
    """The ECS cluster that an inference fleet's nodes join at boot."""
    return f"{PROJECT}-{environment}-{fleet}"


def reservation_group(environment: str, fleet: str) -> str:
    """The resource group whose capacity reservations a fleet's nodes are launched into."""
    return f"{PROJECT}-{environment}-{fleet}"


def reservation_stack(fleet: str) -> str:
    """The stack, within its environment, that holds the reservation of one fleet and nothing else."""
    return f"reservation-{fleet}"


def capacity_log_group(environment: str) -> str:
    """Where the capacity watch writes one event for each fleet and minute."""
    return f"/{PROJECT}/{environment}/capacity"


def watched_place_parameter(environment: str, fleet: str) -> str:
    """Where the capacity watch reads what a fleet wants and where it is launched."""
    return parameter_path(environment, "capacity-watch", fleet)


def compile_cache_place_parameter(environment: str) -> str:
    """Where whoever works on the compile cache from outside reads its lease table and its bucket."""
    return parameter_path(environment, "compile-cache")


def precompile_state_machine(environment: str) -> str:
    """The state machine that compiles a model's graphs before they are needed."""
    return f"{PROJECT}-{environment}-precompile"


def precompile_place_parameter(environment: str, fleet: str) -> str:
    """Where precompilation reads the queue and the job definition of one training fleet."""
    return parameter_path(environment, "precompile", fleet)


def artifact_bucket(environment: str, account: str, region: str) -> str:
    """The bucket of compiled models: a name for all the world, of 63 characters at most, that tells no account."""
    digest = hashlib.sha256(f"{account}/{region}".encode()).hexdigest()
    return f"{PROJECT}-{environment}-artifacts-{digest[:8]}"


def shadow_bucket(environment: str, account: str, region: str) -> str:
    """The bucket of recorded requests and of what came of asking them again; named as ``artifact_bucket`` is."""
    digest = hashlib.sha256(f"{account}/{region}".encode()).hexdigest()
    return f"{PROJECT}-{environment}-shadow-{digest[:8]}"


def ledger_bucket_parameter(environment: str) -> str:
    """Where the command line reads which bucket holds the ledger."""
    return parameter_path(environment, "ledger", "bucket")


def budget_name(environment: str, owner: str | None = None) -> str:
    """The budget of an environment, or of one of its owners, in AWS Budgets; a name there takes no colon."""
    return "-".join((PROJECT, environment, *([owner.replace(":", "-")] if owner else [])))


def budgets_function(environment: str) -> str:
    """The Lambda function that forecasts budgets; people's commands about the stop go to it."""
    return f"{PROJECT}-{environment}-budgets"


def ledger_database(environment: str) -> str:
    """The Glue database and the Athena workgroup of the ledger; Athena's names take no dash."""
    return f"{PROJECT}-{environment}".replace("-", "_")


def pool_function(environment: str) -> str:
    """The Lambda function that looks after the pools of an environment."""
    return f"{PROJECT}-{environment}-pool"


def pool_table(environment: str) -> str:
    """The DynamoDB table that holds the jobs of an environment's pools; people's credentials reach it by its name."""
    return f"{PROJECT}-{environment}-pool-jobs"


def pool_name(environment: str, fleet: str) -> str:
    """A pool's Auto Scaling group."""
    return f"{PROJECT}-{environment}-{fleet}-pool"


def pool_family(environment: str, fleet: str, instance_type: str) -> str:
    """The task definitions of a pool's jobs on one instance type; ECS takes letters, digits, dashes, underscores."""
    return f"{PROJECT}-{environment}-{fleet}-{instance_type.replace('.', '-')}"


def rollout_function(environment: str) -> str:
    """The Lambda function that people's commands about rollouts go to."""
    return f"{PROJECT}-{environment}-rollout"


def rollout_machine(environment: str) -> str:
    """The state machine that drives rollouts: people look at its executions."""
    return f"{PROJECT}-{environment}-rollout"


def rollout_place_parameter(environment: str, fleet: str) -> str:
    """Where the rollout function reads where an endpoint is served."""
    return parameter_path(environment, "rollout", fleet)


def served_version_parameter(environment: str, fleet: str) -> str:
    """What the stable side of an endpoint runs: rollouts write it, and deployments leave it at that."""
    return parameter_path(environment, "served", fleet)


def endpoint_family(environment: str, fleet: str) -> str:
    """The family of an endpoint's task definitions; its newest is what was deployed last."""
    return f"{PROJECT}-{environment}-{fleet}"


def hosted_endpoint(environment: str, fleet: str) -> str:
    """The SageMaker endpoint of a fleet, and how the names of its configurations and models begin."""
    return f"{PROJECT}-{environment}-{fleet}"


def declared_model_parameter(environment: str, fleet: str, generation: int) -> str:
    """The SageMaker model that was deployed last; its first version is what the endpoint was created with."""
    return parameter_path(environment, "declared-model", fleet, str(generation))


def candidate_cluster_name(environment: str, fleet: str) -> str:
    """The ECS cluster that the nodes of a new version join, while it is rolled out."""
    return f"{cluster_name(environment, fleet)}-candidate"


def warm_pool_parameter(environment: str, fleet: str) -> str:
    """Where a node that may wait stopped reads which group it belongs to, and what to have ready."""
    return parameter_path(environment, "warm-pool", fleet)


def scaling_alarm(environment: str, fleet: str, move: str) -> str:
    """An alarm that moves the nodes of an endpoint and tells nobody: apart from those that do."""
    return f"{PROJECT}-{environment}-{fleet}-{move}"
