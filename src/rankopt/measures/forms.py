"""The forms: one algebra of measures each, as a record of kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rankopt.errors import IncompatibleError
from rankopt.kernels import averaged, cascade, codes, concordance, cumulative, positional, softforms

Kernel = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Form:
    """Kernels over all queries; None where the form has no such operation.

    Parameters
    ----------
    name, code : in words, and as kernels that serve several forms know it.
    values : (by_rank, table, out): the value of each query.
    averages : (by_rank, blocks, table, out): its mean over all orders of tied rows.
    slopes : (by_rank, table, out): its derivative by the gain at each place.
    swaps : (by_rank, table, pair_offsets, out): its change by each exchange of two rows.
    softs : (positions, gains, discounts, beta, curve, values, by_discount, by_position): the value at
        soft ranks and soft precedence, and its derivatives.
    prefix : whether ranks past the cut-off do not matter to `values`.
    """

    name: str
    code: int
    values: Kernel
    averages: Kernel
    slopes: Kernel | None
    swaps: Kernel | None
    softs: Kernel | None = None
    prefix: bool = True

    def need(self, operation: str) -> Kernel:
        """The kernel of an operation, or an `IncompatibleError` that names the forms that have it."""
        kernel = getattr(self, operation)
        if kernel is None:
            others = [f.name for f in FORMS if getattr(f, operation) is not None]
            raise IncompatibleError(
                f"{self.name} measures have no {operation}; measures of these forms do: {', '.join(others)}"
            )
        return kernel


POSITIONAL = Form(
    "positional", codes.POSITIONAL,
    positional.values, positional.averages, positional.slopes, positional.swaps, softforms.positional,
)  # fmt: skip
CASCADE = Form(
    "cascade", codes.CASCADE,
    cascade.values, cascade.averages, cascade.slopes, cascade.swaps, softforms.cascade,
)  # fmt: skip
CUMULATIVE = Form(
    "cumulative", codes.CUMULATIVE,
    cumulative.values, cumulative.averages, cumulative.slopes, cumulative.swaps, softforms.cumulative,
)  # fmt: skip
CONCORDANCE = Form(
    "concordance", codes.CONCORDANCE,
    concordance.values, concordance.averages, None, concordance.swaps, prefix=False,
)  # fmt: skip
AVERAGED = Form(
    "averaged", codes.AVERAGED, averaged.values, averaged.averages, None, None, prefix=False
)
FORMS = (POSITIONAL, CASCADE, CUMULATIVE, CONCORDANCE, AVERAGED)
