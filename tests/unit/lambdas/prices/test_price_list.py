"""GetProducts as it was recorded, with every trap that it is known for: a price, or a reason, and never zero."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.config import Config

from lambdas.prices.price_list import OnDemand, SageMakerHosting
from lambdas.prices.source import Reading
from tests.support.client_shapes import shaped
from tests.support.price_lists import NOW, Pricing, product, question

TRN1 = "trn1.32xlarge"


def read(pages: list[list[str]], name: str = TRN1) -> Reading:
    return OnDemand(shaped("pricing", Pricing({name: pages}))).read(question(name))


def test_a_price_has_its_date_its_source_and_where_exactly_it_was_found() -> None:
    (record,) = read([[product(TRN1, "21.5000000000")]]).found
    price = record.price

    assert (price.usd_per_hour, price.kind, price.region, price.as_of) == (21.5, "on-demand", "us-east-2", "2026-11-22")
    assert price.source == "AWS Price List"
    assert price.provenance == "pricing:GetProducts, sku JRTCKXETXF, effective 2026-11-01T00:00:00Z"
    assert record.key == "us-east-2/trn1.32xlarge/on-demand"


def test_it_asks_for_on_demand_of_this_type_and_region_only() -> None:
    pricing = Pricing()
    OnDemand(shaped("pricing", pricing)).read(question(TRN1))

    (asked,) = pricing.asked
    assert {each["Field"]: each["Value"] for each in asked["Filters"]} == {
        "regionCode": "us-east-2",
        "instanceType": TRN1,
        "operatingSystem": "Linux",
        "preInstalledSw": "NA",
        "tenancy": "Shared",
        "capacitystatus": "Used",
        "marketoption": "OnDemand",
        "productFamily": "Compute Instance",
    }
    assert {each["Type"] for each in asked["Filters"]} == {"TERM_MATCH"}


def test_a_zero_dollar_term_is_no_price() -> None:
    # What the list answers for trn2: the Capacity Block's usage at no price of its own.
    reading = read([[product("trn2.48xlarge", "0.0000000000")]], "trn2.48xlarge")

    assert reading.found == ()
    assert reading.problems == ()
    assert reading.absent == (("trn2.48xlarge", "AWS lists no on-demand price of it in us-east-2"),)


def test_a_zero_beside_a_price_is_dropped() -> None:
    (record,) = read([[product(TRN1, "0.0000000000", "21.5"), product(TRN1, "0", sku="ZERO")]]).found

    assert record.price.usd_per_hour == 21.5


def test_a_region_without_the_type_is_absent_and_no_problem() -> None:
    reading = read([[]])

    assert (reading.found, reading.problems) == ((), ())
    assert reading.reason(TRN1) == "AWS lists no on-demand price of it in us-east-2"


def test_a_price_on_a_later_page_is_found() -> None:
    (record,) = read([[product(TRN1, "0")], [], [product(TRN1, "21.5")]]).found

    assert record.price.usd_per_hour == 21.5


def test_pages_without_end_are_a_problem() -> None:
    reading = read([[] for _ in range(50)])

    assert reading.problems == ((TRN1, "pricing:GetProducts: more than 20 pages"),)


def test_terms_that_are_not_in_force_yet_do_not_count() -> None:
    later = (NOW + timedelta(days=1)).isoformat()
    (record,) = read([[product(TRN1, "21.5"), product(TRN1, "99", sku="NEXT", effective=later)]]).found

    assert record.price.usd_per_hour == 21.5


def test_of_terms_in_force_the_newest_count() -> None:
    entry = json.loads(product(TRN1, "24.78", effective="2025-06-01T00:00:00Z"))
    entry["terms"]["OnDemand"] |= json.loads(product(TRN1, "21.5", sku="NEW"))["terms"]["OnDemand"]
    (record,) = read([[json.dumps(entry)]]).found

    assert record.price.usd_per_hour == 21.5


def test_two_different_prices_are_a_problem_and_not_a_choice() -> None:
    reading = read([[product(TRN1, "21.5"), product(TRN1, "25", sku="OTHER")]])

    assert reading.found == ()
    assert reading.problems == ((TRN1, "the price list has several prices that match: 21.5, 25"),)


def changed(change: str) -> str:
    entry: dict[str, Any] = json.loads(product(TRN1, "21.5"))
    term = next(iter(entry["terms"]["OnDemand"].values()))
    dimension = next(iter(term["priceDimensions"].values()))
    if change == "yuan":
        dimension["pricePerUnit"] = {"CNY": "150"}
    elif change == "words":
        dimension["pricePerUnit"] = {"USD": "ask us"}
    elif change == "no date":
        del term["effectiveDate"]
    elif change == "terms of a list":
        entry["terms"] = []
    elif change == "no terms":
        del entry["terms"]
    return json.dumps(entry)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"product": {', "an entry of the price list is no product (JSONDecodeError)"),
        ('"a string in a string"', "an entry of the price list is no product (TypeError)"),
        ("null", "an entry of the price list is no product (TypeError)"),
        (changed("terms of a list"), "an entry of the price list is no product (AttributeError)"),
        (changed("no terms"), "an entry of the price list is no product (KeyError)"),
        (changed("yuan"), "a product of the price list has no price in USD (KeyError: 'USD')"),
        (changed("words"), "could not convert string to float: 'ask us'"),
        (changed("no date"), "a product of the price list has no price in USD (KeyError: 'effectiveDate')"),
    ],
)
def test_what_cannot_be_read_is_a_problem_of_its_type_only(text: str, said: str) -> None:
    pricing = Pricing({TRN1: [[text]], "inf2.xlarge": [[product("inf2.xlarge", "0.7582")]]})
    reading = OnDemand(shaped("pricing", pricing)).read(question(TRN1, "inf2.xlarge"))

    assert [record.price.usd_per_hour for record in reading.found] == [0.7582]
    assert [name for name, _ in reading.problems] == [TRN1]
    assert said in str(reading.reason(TRN1))


def test_negative_and_endless_prices_are_none() -> None:
    assert read([[product(TRN1, "-1", "NaN", "Infinity")]]).found == ()


def test_nothing_is_asked_when_time_is_up() -> None:
    pricing = Pricing()
    reading = OnDemand(shaped("pricing", pricing)).read(question(TRN1, has_time=False))

    assert pricing.asked == []
    assert reading.reason(TRN1) == "pricing:GetProducts was not asked: the function's time was up"


def test_sagemaker_is_asked_for_inf2_alone_and_by_its_own_name() -> None:
    pricing = Pricing({"ml.inf2.xlarge": [[product("ml.inf2.xlarge", "0.99")]]})
    reading = SageMakerHosting(shaped("pricing", pricing)).read(question(TRN1, "inf2.xlarge"))

    assert [(record.instance_type, record.price.kind) for record in reading.found] == [
        ("inf2.xlarge", "sagemaker-hosting")
    ]
    assert [each["ServiceCode"] for each in pricing.asked] == ["AmazonSageMaker"]


def client(answers: list[tuple[int, Any]]) -> Any:
    """boto3's own client whose answers come from here: retries and errors are botocore's."""
    made = boto3.session.Session().client(
        "pricing",
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
        config=Config(retries={"mode": "standard", "total_max_attempts": 4}),
    )

    def answer(request: Any, **_: Any) -> Any:
        status, body = answers.pop(0)
        response: Any = AWSResponse(request.url, status, HTTPHeaders(), None)
        response._content = json.dumps(body).encode()
        return response

    made.meta.events.register("before-send.pricing.GetProducts", answer)
    return made


THROTTLED: tuple[int, Any] = (400, {"__type": "ThrottlingException", "message": "Rate exceeded"})


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)


@pytest.mark.usefixtures("no_waiting")
def test_throttling_is_waited_out() -> None:
    answers: list[tuple[int, Any]] = [
        THROTTLED,
        THROTTLED,
        (200, {"FormatVersion": "aws_v1", "PriceList": [product(TRN1, "21.5")]}),
    ]
    (record,) = OnDemand(shaped("pricing", client(answers))).read(question(TRN1)).found

    assert record.price.usd_per_hour == 21.5
    assert answers == []


@pytest.mark.usefixtures("no_waiting")
def test_throttling_without_end_is_a_problem_after_a_bounded_number_of_tries() -> None:
    answers = [THROTTLED] * 20
    reading = OnDemand(shaped("pricing", client(answers))).read(question(TRN1))

    assert len(answers) == 16
    assert reading.found == ()
    assert "ThrottlingException: Rate exceeded" in str(reading.reason(TRN1))


def test_the_questions_day_is_the_date_of_its_prices() -> None:
    assert question(TRN1, now=datetime(2026, 12, 31, 23, 59, tzinfo=UTC)).today == "2026-12-31"
