"""The doctor knows every stack that an environment always has, and none that it has not."""

import aws_cdk as cdk
import pytest

from fleet import naming
from planning.preflight.stacks import ALWAYS
from tests.support.templates import platform

# Of environments with a Capacity Block, or with people who may approve one.
SOMETIMES = {"capacity-blocks"}


@pytest.mark.parametrize("name", ["dev", "local"])
def test_the_stacks_that_are_always_there_are_those_that_are_composed(name: str) -> None:
    composed = {stack.stack_name for stack in platform(name).node.children if isinstance(stack, cdk.Stack)}
    reserving = {naming.reservation_stack(fleet) for fleet in platform(name).reservations}
    expected = {naming.stack_name(name, stack) for stack in {*ALWAYS, *reserving}}
    assert expected <= composed
    assert composed - expected <= {naming.stack_name(name, stack) for stack in SOMETIMES}
