"""What each job does. Jobs come and go, so a dashboard searches for their series, and tables take nodes apart by job.

Sources: "CloudWatch search expression syntax", "Use dynamic labels" (a dynamic label applies to every series that a
search finds), and "unnest" and the arithmetic operators of the Logs Insights query syntax.
"""

from typing import Final

from aws_cdk import aws_cloudwatch as cw

from dashboards.widgets import MINUTE, Row, Shape, graph, log_table, row
from fleet import metrics, naming
from fleet.metrics import MetricSpec

# As many as a table without a limit of its own shows.
ROWS: Final = 20
# A node that several jobs share is a row of each of them, with its own part of the cores and of the dollars.
EACH_JOB_OF_A_NODE: Final = (
    "fields jsonParse(@message) as event",
    "unnest event.jobs into share",
    "fields share.job as job_id, share.owner as job_owner, share.job_name as name",
)


def per_job(title: str, spec: MetricSpec, statistic: str, environment: str, fleet: str) -> Shape:
    """One line for each job of a fleet that has data in the time that is shown."""
    found = cw.MathExpression(
        expression=search(spec, statistic, environment, fleet),
        label=f"${{PROP('Dim.{metrics.JOB_ID}')}}",
        period=MINUTE,
    )
    return graph(title, spec.unit, [found])


def search(spec: MetricSpec, statistic: str, environment: str, fleet: str) -> str:
    """The expression that finds the series of every job of a fleet."""
    schema = ",".join((metrics.NAMESPACE, *metrics.JOB_DIMENSIONS))
    terms = f'MetricName="{spec.name}" {metrics.ENVIRONMENT}="{environment}" {metrics.FLEET}="{fleet}"'
    return f"SEARCH('{{{schema}}} {terms}', '{statistic}')"


def work_rows(environment: str, fleet: str) -> Row:
    """What the workloads say of themselves: empty until one reports it."""
    return row(
        per_job("Tokens a second, by job", metrics.TOKENS_PER_SECOND, "Sum", environment, fleet),
        per_job("Samples a second, by job", metrics.SAMPLES_PER_SECOND, "Sum", environment, fleet),
        per_job("Training loss, by job", metrics.TRAINING_LOSS, "Average", environment, fleet),
        per_job("Non-finite losses, by job", metrics.NON_FINITE_LOSS, "Maximum", environment, fleet),
    )


def owners_table(environment: str) -> Shape:
    """Whose the dollars are: of a shared node, each job has its own part. A minute that is sent twice counts twice."""
    return log_table(
        f"Dollars by owner and job: the sum over its nodes in the time shown, at most {ROWS} jobs, most wasted first",
        naming.node_log_group(environment),
        *EACH_JOB_OF_A_NODE,
        # An event is a minute of a node.
        "stats sum(share.cost_usd_per_hour / 60) as paid, sum(share.wasted_usd_per_hour / 60) as wasted, "
        "count_distinct(node) as nodes, count_distinct(minute) as minutes, "
        "latest(price.kind) as price_kind, latest(price.as_of) as price_date "
        "by job_owner, fleet, job_id, name",
        "sort wasted desc",
        f"limit {ROWS}",
        height=6,
    )
