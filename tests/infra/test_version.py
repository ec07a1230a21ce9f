"""The templates say which version of the project made them."""

from fleet.version import VERSION
from tests.support.templates import templates


def test_every_stack_says_its_version_and_no_resource_does() -> None:
    for stack, template in templates("prod").items():
        assert template.body["Metadata"]["NeuronFleet"] == {"Version": VERSION}, stack
        # A tag or a property would change, and might replace, what a version does not touch.
        assert VERSION not in str(template.body["Resources"]).split("'"), stack
