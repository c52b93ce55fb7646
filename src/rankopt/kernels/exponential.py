# pyright: basic
"""Powers of two for loops over pairs: a polynomial in vector code.

``np.exp`` in a kernel is a call of the C library per element. This is six times as quick and has a
relative error below 2e-14. It uses fused multiply-adds where the machine has them.
"""

import numpy as np
from numba import config, njit

LOG2E = 1.4426950408889634
LOWEST = -1000.0  # powers of two below this count as 2^-1000: never zero, so they can be divided by
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the lowest bits
# The Chebyshev series of 2^f on [-1/2, 1/2], cut after f^9, from the highest power down.
_SERIES = (
    1.020869083593037e-07, 1.3259646250270451e-06, 1.5252657257186041e-05, 0.00015403433746224196,
    0.0013333558230170627, 0.009618129193942167, 0.05550410866444768, 0.240226506956403,
    0.69314718055995, 1.0000000000000135,
)  # fmt: skip


def _fused_plain(a, b, c):
    return a * b + c


if config.DISABLE_JIT:
    fused = _fused_plain
else:
    from llvmlite import ir
    from numba.extending import intrinsic

    def _multiply_add(builder, kind, suffix, args):
        function = ir.FunctionType(kind, [kind] * 3)
        name = f"llvm.fmuladd.{suffix}f64"
        return builder.call(builder.module.declare_intrinsic(name, (), function), args)

    @intrinsic
    def fused(typingctx, a, b, c):
        """a * b + c, rounded once where the machine can."""

        def generate(context, builder, signature, args):
            return _multiply_add(builder, args[0].type, "", args)

        return a(a, b, c), generate

    @intrinsic
    def exp2_lanes(typingctx, lanes):
        """`exp2_of` of every lane, of at least 2^-1000."""

        def generate(context, builder, signature, args):
            kind = args[0].type
            whole = ir.VectorType(ir.IntType(64), kind.count)

            def every(value, of=kind):
                return ir.Constant(of, [value] * kind.count)

            above = builder.fcmp_ordered(">", args[0], every(LOWEST))
            z = builder.select(above, args[0], every(LOWEST))
            shifted = builder.fadd(z, every(_ROUND))
            f = builder.fsub(z, builder.fsub(shifted, every(_ROUND)))
            p = every(_SERIES[0])
            for coefficient in _SERIES[1:]:
                p = _multiply_add(builder, kind, f"v{kind.count}", [p, f, every(coefficient)])
            exponent = builder.shl(builder.bitcast(shifted, whole), every(52, whole))
            return builder.bitcast(builder.add(builder.bitcast(p, whole), exponent), kind)

        return lanes(lanes), generate


@njit(cache=True, nogil=True)
def exp2_of(z):
    """2^z for |z| <= 1000, as 2^(z - n) with n the integer nearest to z, by a polynomial."""
    shifted = z + _ROUND
    f = z - (shifted - _ROUND)
    p = _SERIES[0]
    p = fused(p, f, _SERIES[1])
    p = fused(p, f, _SERIES[2])
    p = fused(p, f, _SERIES[3])
    p = fused(p, f, _SERIES[4])
    p = fused(p, f, _SERIES[5])
    p = fused(p, f, _SERIES[6])
    p = fused(p, f, _SERIES[7])
    p = fused(p, f, _SERIES[8])
    p = fused(p, f, _SERIES[9])
    exponent = np.float64(shifted).view(np.int64) << 52
    return np.int64(np.float64(p).view(np.int64) + exponent).view(np.float64)


@njit(cache=True, nogil=True)
def decay(u):
    """exp(-u) for u >= 0; at least 2^-1000."""
    return exp2_of(max(-LOG2E * u, LOWEST))
