"""The prices that the source documents name, so that options can be compared at them beside those of today.

Each is quoted as the document has it; what became of it is in docs/source-figures.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from planning.money import PlanError

_INF2: Final = {"inf2.xlarge": 0.76, "inf2.8xlarge": 1.97, "inf2.24xlarge": 6.49, "inf2.48xlarge": 12.98}


@dataclass(frozen=True, slots=True)
class DocumentPrices:
    """``usd_per_hour`` by instance type, as ``title`` has them."""

    title: str
    usd_per_hour: Mapping[str, float]


DOCUMENTS: Final[Mapping[str, DocumentPrices]] = {
    "llama-deep-dive": DocumentPrices(
        "Deep Dive: How PyTorch 2.4 Optimizes Llama 3.2 Fine-Tuning with vLLM 0.4 and AWS Trainium 2 Instances",
        # Four A10G, which are one g5.12xlarge.
        {"trn2.48xlarge": 12.24, "g5.12xlarge": 16.40},
    ),
    "inference-guide": DocumentPrices("AWS Trainium and Inferentia", {**_INF2, "p4d.24xlarge": 32.77}),
    "enterprise-guide": DocumentPrices(
        "AWS Trainium2 and Inferentia2: Purpose-Built AI Chips for Enterprise ML Cost Reduction",
        {
            **_INF2,
            "trn2.48xlarge": 23.97,
            "p4d.24xlarge": 32.77,
            "p5.48xlarge": 98.32,
            "g5.2xlarge": 1.21,
            "g5.12xlarge": 5.67,
            "g5.48xlarge": 16.29,
        },
    ),
    "trn1-chapter": DocumentPrices(
        "Chapter 12.3: Training Silicon: Trn1 (Trainium) Architecture",
        {"trn1.32xlarge": 21.50, "p4d.24xlarge": 32.0},
    ),
}


def document_prices(name: str) -> DocumentPrices:
    """The prices of the document called ``name``.

    Raises:
        PlanError: There is no such document.
    """
    if name not in DOCUMENTS:
        raise PlanError(f"no document is called {name}; they are {', '.join(DOCUMENTS)}")
    return DOCUMENTS[name]
