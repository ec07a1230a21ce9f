"""Who hears of alarms: the ``paging`` of an environment file."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from environments.strict_model import StrictModel
from fleet import paging
from fleet.paging import Destination, Directory, Kind, Route

MailAddress = Annotated[str, Field(pattern=r"^[^@\s]{1,64}@[^@\s]+\.[^@\s.]+$", max_length=254)]
DestinationName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,30}$")]
SecretName = Annotated[str, Field(pattern=r"^[A-Za-z0-9/_+=.@-]+$", max_length=512)]


class PagerDuty(StrictModel):
    """One more service; its secret is as that of ``pagerduty_secret``."""

    kind: Literal["pagerduty"]
    name: DestinationName
    secret: SecretName


class Slack(StrictModel):
    """One more channel; its secret is as that of ``slack_secret``."""

    kind: Literal["slack"]
    name: DestinationName
    secret: SecretName


class Webhook(StrictModel):
    """A machine of one's own. The secret is JSON: ``{"url": "https://...", "key": "what the body is signed with"}``."""

    kind: Literal["webhook"]
    name: DestinationName
    secret: SecretName


class Email(StrictModel):
    """People's mailboxes; each is asked by AWS to confirm once, and hears nothing before."""

    kind: Literal["email"]
    name: DestinationName
    addresses: Annotated[tuple[MailAddress, ...], Field(min_length=1, max_length=20)]


AnyDestination = Annotated[PagerDuty | Slack | Webhook | Email, Field(discriminator="kind")]


class To(StrictModel):
    """Alarms of a severity, or of an owner's work, or both, go to these destinations; the first route that fits leads.

    An owner's work is known for what the pager could find out: a page without it goes where no owner is asked for.
    """

    to: Annotated[tuple[str, ...], Field(min_length=1, max_length=5)]
    severity: Literal["page", "ticket"] | None = None
    owner: Annotated[str, Field(min_length=1, max_length=128)] | None = None


class Paging(StrictModel):
    """Where pages go. Secrets by name only; the values live in Secrets Manager.

    The PagerDuty secret is JSON: ``{"routing_key": "...", "events_url": "..."}``, the URL for the EU service region.
    The Slack secret is the incoming webhook's URL. Without routes pages go to both, tickets to Slack.
    """

    pagerduty_secret: SecretName
    slack_secret: SecretName
    runbooks_url: str
    destinations: Annotated[tuple[AnyDestination, ...], Field(max_length=10)] = ()
    """Further ones; ``pagerduty`` and ``slack`` are the names of the two above."""
    routes: Annotated[tuple[To, ...], Field(max_length=20)] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all destinations."""
        return (paging.PAGERDUTY, paging.SLACK, *(each.name for each in self.destinations))

    @property
    def secrets(self) -> dict[str, str]:
        """The secrets' names, by where they stand."""
        further = {
            f"destinations[{index}].secret": each.secret
            for index, each in enumerate(self.destinations)
            if not isinstance(each, Email)
        }
        return {"pagerduty_secret": self.pagerduty_secret, "slack_secret": self.slack_secret, **further}

    @property
    def mail(self) -> dict[str, tuple[str, ...]]:
        """The addresses behind each destination of e-mail."""
        return {each.name: each.addresses for each in self.destinations if isinstance(each, Email)}

    def directory(self, topics: Mapping[str, str]) -> Directory:
        """What the pager is told; ``topics`` are the ARNs behind the destinations of e-mail."""
        built_in = {
            paging.PAGERDUTY: Destination(Kind.PAGERDUTY, self.pagerduty_secret),
            paging.SLACK: Destination(Kind.SLACK, self.slack_secret),
        }
        further = {
            each.name: Destination(Kind(each.kind), topics[each.name] if isinstance(each, Email) else each.secret)
            for each in self.destinations
        }
        return Directory(
            {**built_in, **further}, tuple(Route(each.to, each.severity, each.owner) for each in self.routes)
        )


KINDS: Final[dict[str, type[BaseModel]]] = {"pagerduty": PagerDuty, "slack": Slack, "webhook": Webhook, "email": Email}
