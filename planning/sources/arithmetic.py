"""Small sums as text: ``price('p4d.24xlarge', 'us-east-1') / (800 * 3600) * 1e6``, worked out and shown.

Numbers, + - * /, brackets, ``ceil`` and what the catalogue knows of an instance type; nothing else is understood.
"""

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fleet.instances import Price, PriceKind, instance_type
from planning.money import PlanError

_OPERATORS: Final[dict[type[ast.operator], tuple[Callable[[float, float], float], str]]] = {
    ast.Add: (operator.add, "+"),
    ast.Sub: (operator.sub, "-"),
    ast.Mult: (operator.mul, "x"),
    ast.Div: (operator.truediv, "/"),
}
_CATALOGUE: Final[dict[str, Callable[[str], float]]] = {
    "devices": lambda name: instance_type(name).devices,
    "cores": lambda name: instance_type(name).physical_cores,
    "logical_cores": lambda name: instance_type(name).logical_cores(),
    "vcpus": lambda name: instance_type(name).vcpus,
    "efa": lambda name: instance_type(name).efa_interfaces,
    # GiB of the whole instance, and of one accelerator.
    "memory": lambda name: instance_type(name).hbm_bytes / 1024**3,
    "device_memory": lambda name: instance_type(name).accelerator.memory_bytes / 1024**3,
}


@dataclass(frozen=True, slots=True)
class Sum:
    """What a text comes to, how it reads with every figure of the catalogue put in, and the prices that it used."""

    value: float
    text: str
    prices: tuple[Price, ...] = ()


def work_out(text: str) -> Sum:
    """The sum that ``text`` states.

    Raises:
        PlanError: The text is no such sum, or the catalogue does not know what it asks for.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _of(tree.body)
    except (SyntaxError, ZeroDivisionError, KeyError, ValueError) as error:
        raise PlanError(f"{text}: {error}") from error


def _of(node: ast.expr) -> Sum:
    match node:
        case ast.Constant(value=bool() | str()):
            raise PlanError(f"{ast.unparse(node)} is no number")
        case ast.Constant(value=int() | float() as number):
            return Sum(float(number), _shown(float(number)))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            of = _of(operand)
            return Sum(-of.value, f"-{of.text}", of.prices)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _joined(left, op, right)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _called(name, arguments)
        case _:
            raise PlanError(f"{ast.unparse(node)} is not understood")


def _joined(left: ast.expr, op: ast.operator, right: ast.expr) -> Sum:
    function, sign = _OPERATORS[type(op)]
    first, second = _of(left), _of(right)
    # 12 / (800 * 3600) and 2 - (1 + 1) are not the same without their brackets.
    is_tight = isinstance(op, ast.Mult | ast.Div)
    before = _bracketed(left, first, weaker=is_tight)
    after = _bracketed(right, second, weaker=is_tight or isinstance(op, ast.Sub), all_of_it=isinstance(op, ast.Div))
    return Sum(function(first.value, second.value), f"{before} {sign} {after}", (*first.prices, *second.prices))


def _bracketed(node: ast.expr, of: Sum, *, weaker: bool, all_of_it: bool = False) -> str:
    """In brackets where ``node`` is a sum of ``weaker`` operators, or any sum at all."""
    if not isinstance(node, ast.BinOp):
        return of.text
    needs = all_of_it or (weaker and isinstance(node.op, ast.Add | ast.Sub))
    return f"({of.text})" if needs else of.text


def _called(name: str, arguments: list[ast.expr]) -> Sum:
    if name == "ceil" and len(arguments) == 1:
        inner = _of(arguments[0])
        return Sum(math.ceil(round(inner.value, 9)), f"{inner.text}, rounded up", inner.prices)
    words = [argument.value for argument in arguments if isinstance(argument, ast.Constant)]
    texts = [word for word in words if isinstance(word, str)]
    if len(texts) == len(arguments) and texts:
        if name == "price" and len(texts) <= 3:
            price = _price(*texts)
            return Sum(price.usd_per_hour, _shown(price.usd_per_hour), (price,))
        if name == "peak" and len(texts) == 2:
            figure = float(instance_type(texts[0]).accelerator.peak_tflops[texts[1]])
            return Sum(figure, _shown(figure))
        if name in _CATALOGUE and len(texts) == 1:
            figure = float(_CATALOGUE[name](texts[0]))
            return Sum(figure, _shown(figure))
    raise PlanError(f"{name}({', '.join(map(str, words))}) is not understood")


def _price(name: str, region: str = "us-east-1", kind: str = "on-demand") -> Price:
    """The newest of that kind in that region; a zone's price stands for its region, the dearest among equals."""
    wanted = PriceKind(kind)
    prices = [
        each for each in instance_type(name).prices if each.kind is wanted and each.region.partition(" ")[0] == region
    ]
    if not prices:
        raise PlanError(f"no {kind} price of {name} in {region} is known")
    return max(prices, key=lambda each: (each.as_of, each.usd_per_hour))


def _shown(number: float) -> str:
    return f"{number:,.0f}" if number.is_integer() and abs(number) < 1e15 else f"{number:.10g}"
