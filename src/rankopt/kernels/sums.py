# pyright: basic
"""Sums of lists, eight lanes at a time and in an order that does not depend on the machine.

LLVM does not reorder floating point sums, so a plain loop waits for every addition. Here it is said
which sums run side by side.
"""

from numba import config, njit

LANES = 8  # lists are padded to a multiple of this


def _total_of_list(values):
    parts = values.reshape(-1, LANES).sum(axis=0)
    while parts.size > 1:
        parts = parts[: parts.size // 2] + parts[parts.size // 2 :]
    return parts[0]


if config.DISABLE_JIT:
    total = _total_of_list
else:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    from rankopt.kernels.lanes import load

    @intrinsic
    def across(typingctx, lanes):
        """The sum of the lanes of a vector of float64."""

        def generate(context, builder, signature, args):
            index = ir.IntType(32)
            parts = [builder.extract_element(args[0], ir.Constant(index, i)) for i in range(LANES)]
            while len(parts) > 1:
                half = len(parts) // 2
                parts = [builder.fadd(parts[i], parts[i + half]) for i in range(half)]
            return parts[0]

        return types.float64(lanes), generate

    @njit(cache=True, nogil=True)
    def total(values):
        """The sum of a contiguous float64 list whose length is a positive multiple of 8."""
        lanes = load(values, 0)
        for i in range(LANES, values.size, LANES):
            lanes = lanes + load(values, i)
        return across(lanes)
