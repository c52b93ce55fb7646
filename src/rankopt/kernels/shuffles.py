# pyright: basic
"""Lanes that move: to the front of a vector, in from anywhere in an array, into another width.

    chosen(v, b)                    the mask of the lanes of v whose bits are 1 in an int64
    squeeze(m, v)                   the lanes where the mask holds, at the front; the rest is anything
    gather(array, v)                array[v], lane by lane
    load_like(array, i, v)          lanes i, i + 1, ... as many as v has, and as its numbers
    sum_of(v), most_of(v)           the sum of int64 lanes; the largest of float64 lanes

LLVM knows each of these, as one instruction or as a few, on every machine.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rankopt.kernels.lanes import Lanes


@intrinsic
def chosen(typingctx, v, b):
    mask = v.mask

    def generate(context, builder, signature, args):
        return builder.bitcast(builder.trunc(args[1], ir.IntType(v.width)), mask.vector)

    return mask(v, types.int64), generate


@intrinsic
def squeeze(typingctx, m, v):
    def generate(context, builder, signature, args):
        rest = ir.Constant(v.vector, ir.Undefined)
        name = "llvm.experimental.vector.compress"
        return _call(builder, name, v, v.vector, [args[1], args[0], rest])

    return v(m, v), generate


@intrinsic
def gather(typingctx, array, v):
    lanes = Lanes(array.dtype.name, v.width)

    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        out = ir.Constant(lanes.vector, ir.Undefined)
        for lane in range(v.width):
            place = ir.Constant(ir.IntType(32), lane)
            index = builder.extract_element(args[1], place)
            value = builder.load(builder.gep(data, [index]))
            out = builder.insert_element(out, value, place)
        return out

    return lanes(array, v), generate


@intrinsic
def load_like(typingctx, array, i, v):
    wide, narrow = Lanes(array.dtype.name, v.width), v
    converts = {
        ("float64", "float32"): "fptrunc",
        ("float32", "float64"): "fpext",
        ("int32", "int64"): "sext",
        ("int64", "int32"): "trunc",
    }

    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [args[1]]), wide.vector.as_pointer())
        value = builder.load(pointer, align=4)
        if wide.element == narrow.element:
            return value
        return getattr(builder, converts[wide.element, narrow.element])(value, narrow.vector)

    return v(array, types.int64, v), generate


@intrinsic
def sum_of(typingctx, v):
    def generate(context, builder, signature, args):
        return _call(builder, "llvm.vector.reduce.add", v, v.vector.element, args)

    return types.int64(v), generate


@intrinsic
def most_of(typingctx, v):
    def generate(context, builder, signature, args):
        return _call(builder, "llvm.vector.reduce.fmax", v, v.vector.element, args)

    return types.float64(v), generate


def _call(builder, name, v, returns, args):
    """A call of one of LLVM's own functions of vectors."""
    kind = ir.FunctionType(returns, [argument.type for argument in args])
    name = f"{name}.v{v.width}{v.element[0]}{v.element[-2:]}"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)
