"""What people are told goes to the ticket topic, where the pager delivers each key once."""

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient

# SNS: a subject is ASCII of at most 100 characters.
_SUBJECT_LIMIT: Final = 100


class Tickets:
    """``topic`` is the ARN of the environment's ticket topic; keys differ between functions by ``prefix``."""

    def __init__(self, sns: "SNSClient", topic: str, prefix: str) -> None:
        self._sns, self._topic, self._prefix = sns, topic, prefix

    def tell(self, key: str, subject: str, body: str) -> None:
        """Publish a notice. It may be published again: who delivers it knows it by ``key``."""
        self._sns.publish(
            TopicArn=self._topic,
            Subject=subject.encode("ascii", "replace").decode()[:_SUBJECT_LIMIT],
            Message=json.dumps({"notice_key": f"{self._prefix}:{key}", "subject": subject, "body": body}),
        )
