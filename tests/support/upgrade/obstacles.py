"""Why CloudFormation would refuse to update deployed stacks, told from their templates. Pure.

It makes a new resource before it takes the old one away, and updates a stack before those that read its exports.
"""

from collections.abc import Iterator
from typing import Any

from tests.support.upgrade.intrinsics import Template, Templates, exports, functions
from tests.support.upgrade.updates import Effect, Place, definition_of, losses


def obstacles(old: Templates, new: Templates) -> tuple[str, ...]:
    """What other stacks still import, and names that are taken."""
    return (*_withdrawn(old, new), *_taken(old, new))


def _withdrawn(old: Templates, new: Templates) -> Iterator[str]:
    for stack, template in old.items():
        told = exports(new.get(stack, {}))
        for name, value in exports(template).items():
            readers = [each for each in old if ("Fn::ImportValue", name) in _imports(old[each])]
            if readers and told.get(name) != value:
                what = "changes" if name in told else "withdraws"
                yield f"{stack} {what} the export {name} while {', '.join(readers)} imports it"


def _imports(template: Template) -> list[tuple[str, Any]]:
    return [each for each in functions(template["Resources"]) if each[0] == "Fn::ImportValue"]


def _taken(old: Templates, new: Templates) -> Iterator[str]:
    holders = {named: place for place, named in _names(old)}
    replaced = {(loss.stack, loss.logical_id) for loss in losses(old, new) if loss.effect is Effect.REPLACED}
    for place, named in _names(new):
        holder = holders.get(named)
        if holder is not None and (holder != place or place in replaced):
            yield f"{'/'.join(place)} needs the name {named[1]} while {'/'.join(holder)} ({named[0]}) has it"


def _names(templates: Templates) -> Iterator[tuple[Place, tuple[str, str]]]:
    """The resources whose identifier is written in the template."""
    for stack, template in templates.items():
        for logical_id, body in template["Resources"].items():
            identifier = definition_of(body["Type"]).get("primaryIdentifier", ())
            names = [body.get("Properties", {}).get(each.removeprefix("/properties/")) for each in identifier]
            if names and all(isinstance(name, str) for name in names):
                yield (stack, logical_id), (body["Type"], " ".join(names))
