"""The nearest known word, and the regions that are known."""

import boto3.session
import pytest

from fleet.diagnostics import did_you_mean, nearest, with_known
from fleet.regions import REGIONS


@pytest.mark.parametrize(("word", "meant"), [("prd", "prod"), ("PROD", "prod"), ("tq", "to"), ("moon", None)])
def test_the_nearest_word_is_found_whatever_its_capitals(word: str, meant: str | None) -> None:
    assert nearest(word, ["prod", "dev", "to"]) == meant


def test_what_is_like_nothing_is_answered_with_all_that_is_known() -> None:
    assert did_you_mean("moon", ["dev", "prod"]) == "known: dev, prod"
    assert did_you_mean("moon", []) == "known: none"
    assert with_known("prd", ["dev", "prod"]) == "did you mean prod? known: dev, prod"


def test_every_region_of_ec2_that_the_installed_sdk_knows_is_known_and_no_other() -> None:
    session = boto3.session.Session()
    partitions = session.get_available_partitions()
    told = {region for each in partitions for region in session.get_available_regions("ec2", partition_name=each)}
    # The SDK of one month knows no more than a region or two that that of another does not.
    assert told ^ REGIONS == set()
