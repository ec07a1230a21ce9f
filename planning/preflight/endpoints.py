"""Is what people put into the account by hand there: secrets of paging, certificates of endpoints?"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fleet.diagnostics import Diagnostic, refuse, warn

CERTIFICATE: Final = "endpoint.certificate_arn"
_RENEWED_BEFORE: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class SecretSeen:
    """A secret without its value: whether it is to be deleted, and whether anything was ever stored in it."""

    is_deleted: bool
    has_value: bool


@dataclass(frozen=True, slots=True)
class CertificateSeen:
    """A certificate of ACM."""

    status: str
    ends_at: datetime | None


def diagnose_secret(path: str, name: str, seen: SecretSeen | None) -> Iterator[Diagnostic]:
    """Errors: without its secrets an alarm reaches nobody. ``path`` is where the file names it; None: there is none."""
    if seen is None:
        fix = f"aws secretsmanager create-secret --name {name} --secret-string file://…"
        yield refuse("secret-not-found", path, name, f"Secrets Manager has no secret {name}: pages reach nobody", fix)
    elif seen.is_deleted:
        text = f"the secret {name} is to be deleted and cannot be read"
        yield refuse("secret-deleted", path, name, text, f"aws secretsmanager restore-secret --secret-id {name}")
    elif not seen.has_value:
        fix = f"aws secretsmanager put-secret-value --secret-id {name} --secret-string file://…"
        yield refuse("secret-empty", path, name, f"the secret {name} has no value", fix)


def diagnose_certificate(arn: str, seen: CertificateSeen | None, now: datetime) -> Iterator[Diagnostic]:
    """Findings about an endpoint's certificate; None: ACM has none with this ARN.

    ACM user guide: a load balancer takes issued certificates only. ACM renews what it issued itself.
    """
    if seen is None:
        yield refuse("certificate-not-found", CERTIFICATE, arn, f"ACM has no certificate {arn}", "request or import it")
    elif seen.status != "ISSUED":
        fix = "prove the domain that ACM asks for, or name another certificate"
        yield refuse("certificate-not-issued", CERTIFICATE, arn, f"the certificate is {seen.status}", fix)
    elif seen.ends_at and seen.ends_at - now <= _RENEWED_BEFORE:
        text = f"the certificate ends on {seen.ends_at.isoformat()} and was not renewed yet"
        yield warn("certificate-ends-soon", CERTIFICATE, arn, text, "see its renewal status in ACM, or import the next")
