# pyright: basic
"""Lanes: short vectors for kernels, 512 bits wide, as LLVM's own vector values.

Loops over a dozen elements are what the line search is made of, and LLVM's automatic vectoriser does
poorly on them: it unrolls for long loops and runs short ones in the scalar remainder. So these kernels
say which values are vectors. LLVM turns one into as many registers as the machine needs (one with
AVX-512, two with AVX2, four with SSE or NEON), and the results are the same everywhere.

    v = load(array, i)              lanes i, i + 1, ... of a float32, float64 or int64 array
    store(array, i, v)
    spread(x)                       x in every lane
    whole(v, x)                     x in every lane, integers, as many lanes as v has
    ramp(v)                         0, 1, 2, ..., integers, as many lanes as v has
    width(array)                    the number of lanes that `load` reads
    v + w, v - w, v * w, v / w      lane by lane
    v < w, v <= w, v > w, v >= w    masks; ordered: false where a lane is NaN
    v == w, v != w                  masks of integer lanes
    m & n, m | n                    masks
    v & w, v | w, v ^ w, v >> w     integer lanes, bit by bit; zeros come in from the left
    where(m, v, w), count(m, v)     v or w by mask; v + 1 where the mask holds
    bits(m)                         the mask as an int64, lane 0 in bit 0
    ones(v)                         how many bits are 1, per integer lane or in one int64
    lowest(b)                       the position of the lowest 1 in an int64 that is not 0
    tag(v, w)                       float64 lanes with their last 8 bits replaced by int64 lanes
    at(array, i)                    one element, without Python's rule for negative indices

Loads and stores do not check bounds: arrays are padded to whole vectors.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

_ELEMENTS = {
    "float32": (ir.FloatType(), 16),
    "float64": (ir.DoubleType(), 8),
    "int32": (ir.IntType(32), 16),
    "int64": (ir.IntType(64), 8),
}
WIDE = 16  # lanes of the shortest element: padding to this many suits every type
TAG_BITS = 8


class Lanes(types.Type):
    """The Numba type of a vector, or of a mask of one."""

    def __init__(self, element, width):
        self.element, self.width = element, width
        super().__init__(name=f"Lanes({element} x {width})")

    @property
    def vector(self):
        element = ir.IntType(1) if self.element == "mask" else _ELEMENTS[self.element][0]
        return ir.VectorType(element, self.width)

    @property
    def mask(self):
        return Lanes("mask", self.width)


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes):
        super().__init__(manager, lanes, lanes.vector)


def lanes_of(scalar):
    return Lanes(scalar.name, _ELEMENTS[scalar.name][1])


def integers_like(lanes):
    return Lanes("int32" if lanes.element.endswith("32") else "int64", lanes.width)


def _pointer(context, builder, array_type, array, index, target):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), target.as_pointer())


def _spread(builder, value, vector):
    none = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(none, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(one, none, zeros)


@intrinsic
def load(typingctx, array, i):
    lanes = lanes_of(array.dtype)

    def generate(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], *args, lanes.vector)
        return builder.load(pointer, align=4)

    return lanes(array, types.int64), generate


@intrinsic
def width_of(typingctx, one):
    def generate(context, builder, signature, args):
        return context.get_constant(types.int64, one.bitwidth)

    return types.int64(one), generate


@intrinsic
def load_set(typingctx, array, i, one):
    lanes = Lanes(array.dtype.name, one.bitwidth)

    def generate(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1], lanes.vector)
        return builder.load(pointer, align=4)

    return lanes(array, types.int64, one), generate


@intrinsic
def spread_like(typingctx, v, x):
    def generate(context, builder, signature, args):
        return _spread(builder, args[1], v.vector)

    return v(v, x), generate


@intrinsic
def store(typingctx, array, i, v):
    def generate(context, builder, signature, args):
        array_value, index, value = args
        pointer = _pointer(context, builder, signature.args[0], array_value, index, v.vector)
        builder.store(value, pointer, align=4)
        return context.get_dummy_value()

    return types.void(array, types.int64, v), generate


@intrinsic
def at(typingctx, array, i):
    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load(builder.gep(data, [args[1]]))

    return array.dtype(array, types.int64), generate


@intrinsic
def put(typingctx, array, i, x):
    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        builder.store(args[2], builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), generate


@intrinsic
def spread(typingctx, x):
    lanes = lanes_of(x)

    def generate(context, builder, signature, args):
        return _spread(builder, args[0], lanes.vector)

    return lanes(x), generate


@intrinsic
def whole(typingctx, v, x):
    lanes = integers_like(v)

    def generate(context, builder, signature, args):
        return _spread(builder, builder.trunc(args[1], lanes.vector.element), lanes.vector)

    return lanes(v, types.int64), generate


@intrinsic
def ramp(typingctx, v):
    lanes = integers_like(v)

    def generate(context, builder, signature, args):
        return ir.Constant(lanes.vector, list(range(lanes.width)))

    return lanes(v), generate


@intrinsic
def width(typingctx, array):
    lanes = lanes_of(array.dtype)

    def generate(context, builder, signature, args):
        return context.get_constant(types.int64, lanes.width)

    return types.int64(array), generate


@intrinsic
def where(typingctx, m, v, w):
    def generate(context, builder, signature, args):
        return builder.select(*args)

    return v(m, v, v), generate


@intrinsic
def tag(typingctx, v, w):
    def generate(context, builder, signature, args):
        kept = ir.Constant(w.vector, [-(1 << TAG_BITS)] * w.width)
        high = builder.and_(builder.bitcast(args[0], w.vector), kept)
        return builder.bitcast(builder.or_(high, args[1]), v.vector)

    return v(v, w), generate


@intrinsic
def bits(typingctx, m):
    def generate(context, builder, signature, args):
        return builder.zext(builder.bitcast(args[0], ir.IntType(m.width)), ir.IntType(64))

    return types.int64(m), generate


@intrinsic
def ones(typingctx, v):
    def generate(context, builder, signature, args):
        bits_of = ir.IntType(64) if v is types.int64 else v.vector
        name = (
            "llvm.ctpop.i64"
            if v is types.int64
            else f"llvm.ctpop.v{v.width}i{v.vector.element.width}"
        )
        kind = ir.FunctionType(bits_of, [bits_of])
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(function, args)

    return v(v), generate


@intrinsic
def lowest(typingctx, b):
    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@intrinsic
def count(typingctx, m, v):
    def generate(context, builder, signature, args):
        mask, value = args
        one = ir.Constant(v.vector, [1] * v.width)
        return builder.select(mask, builder.add(value, one), value)

    return v(m, v), generate


def _arithmetic(symbol, floating, whole):
    @intrinsic
    def operate(typingctx, v, w):
        def generate(context, builder, signature, args):
            return getattr(builder, floating if v.element.startswith("float") else whole)(*args)

        return v(v, w), generate

    @overload(symbol)
    def implementation(v, w):
        if isinstance(v, Lanes) and v == w:
            return lambda v, w: operate(v, w)
        return None


def _comparison(symbol, text):
    @intrinsic
    def operate(typingctx, v, w):
        def generate(context, builder, signature, args):
            if v.element.startswith("float"):
                return builder.fcmp_ordered(text, *args)
            return builder.icmp_signed(text, *args)

        return v.mask(v, w), generate

    @overload(symbol)
    def implementation(v, w):
        if isinstance(v, Lanes) and v == w:
            return lambda v, w: operate(v, w)
        return None


for _symbol, _floating, _whole in (
    (operator.add, "fadd", "add"),
    (operator.sub, "fsub", "sub"),
    (operator.mul, "fmul", "mul"),
    (operator.truediv, "fdiv", "sdiv"),
    (operator.and_, "and_", "and_"),
    (operator.or_, "or_", "or_"),
    (operator.xor, "xor", "xor"),
    (operator.rshift, "lshr", "lshr"),
):
    _arithmetic(_symbol, _floating, _whole)
for _symbol, _text in (
    (operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">="),
    (operator.eq, "=="), (operator.ne, "!="),
):  # fmt: skip
    _comparison(_symbol, _text)
