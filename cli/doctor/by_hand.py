"""What people do in the account by hand: secrets of paging, certificates of endpoints, tags that costs go by."""

from collections.abc import Iterator
from typing import Final

from cli.doctor.visit import Entry, Visit
from environments.fleets import InferenceFleet
from fleet.diagnostics import Diagnostic
from planning.preflight.cost_tags import NEEDED, diagnose_cost_tags
from planning.preflight.endpoints import CertificateSeen, SecretSeen, diagnose_certificate, diagnose_secret

_ABSENT: Final = frozenset({"ResourceNotFoundException"})


def secrets(visit: Visit) -> Iterator[Diagnostic]:
    """Whether they are there; their values are never read."""
    for key, name in visit.environment.paging.secrets.items():
        found = visit.account.find(_ABSENT, visit.account.secretsmanager.describe_secret, SecretId=name)
        seen = SecretSeen("DeletedDate" in found, bool(found.get("VersionIdsToStages"))) if found else None
        yield from diagnose_secret(f"paging.{key}", name, seen)


def cost_tags(visit: Visit) -> Iterator[Diagnostic]:
    """Whether AWS counts costs by the tags of this project; only where the file has budgets."""
    if visit.environment.budgets is None:
        return
    found = visit.account.ce.list_cost_allocation_tags(TagKeys=list(NEEDED), Type="UserDefined")
    yield from diagnose_cost_tags({each["TagKey"]: each["Status"] for each in found["CostAllocationTags"]})


def certificate(visit: Visit, entry: Entry) -> Iterator[Diagnostic]:
    """Whether the certificate of a fleet's endpoint is issued."""
    arn = entry.fleet.endpoint.certificate_arn if isinstance(entry.fleet, InferenceFleet) else None
    if arn is None:
        return
    found = visit.account.find(_ABSENT, visit.account.acm.describe_certificate, CertificateArn=arn)
    details = found["Certificate"] if found else None
    seen = CertificateSeen(details.get("Status", ""), details.get("NotAfter")) if details else None
    yield from diagnose_certificate(arn, seen, visit.now)
