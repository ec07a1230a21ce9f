"""What can go wrong in the pager.

PagerError
 ├─ EnrichmentError       the node events could not be read; the bare page goes out
 ├─ SecretError           a destination's secret is missing or malformed
 ├─ IncidentStoreError    the table that remembers incidents did not answer; the page goes out without it
 └─ DeliveryError         a destination did not take the page
"""

from botocore.exceptions import BotoCoreError, ClientError


class PagerError(Exception):
    """The pager could not do a part of its work."""


class EnrichmentError(PagerError):
    """The node events could not be read in time."""


class SecretError(PagerError):
    """A secret is missing or is not what it should be. The message never holds the value."""


class IncidentStoreError(PagerError):
    """The incident table did not answer."""


class DeliveryError(PagerError):
    """A destination did not take the page; raised to the end so that the invocation is repeated."""


def reason(error: BotoCoreError | ClientError) -> str:
    """The error's code or class, never its text: a text may repeat what was sent."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", "unknown"))
    return type(error).__name__
