"""What people put into the account by hand: the secrets of paging, and the certificates of endpoints."""

from collections.abc import Iterator
from typing import Final

from cli.doctor.visit import Entry, Visit
from environments.model import InferenceFleet
from fleet.diagnostics import Diagnostic
from fleet.preflight.endpoints import CertificateSeen, SecretSeen, diagnose_certificate, diagnose_secret

_ABSENT: Final = frozenset({"ResourceNotFoundException"})


def secrets(visit: Visit) -> Iterator[Diagnostic]:
    """Whether they are there; their values are never read."""
    for key, name in visit.environment.paging.secrets.items():
        found = visit.account.find("secretsmanager", "describe_secret", _ABSENT, SecretId=name)
        seen = SecretSeen("DeletedDate" in found, bool(found.get("VersionIdsToStages"))) if found else None
        yield from diagnose_secret(f"paging.{key}", name, seen)


def certificate(visit: Visit, entry: Entry) -> Iterator[Diagnostic]:
    """Whether the certificate of a fleet's endpoint is issued."""
    arn = entry.fleet.endpoint.certificate_arn if isinstance(entry.fleet, InferenceFleet) else None
    if arn is None:
        return
    found = visit.account.find("acm", "describe_certificate", _ABSENT, CertificateArn=arn)
    details = found["Certificate"] if found else None
    seen = CertificateSeen(details.get("Status", ""), details.get("NotAfter")) if details else None
    yield from diagnose_certificate(arn, seen, visit.now)
