# pyright: basic
"""Bytes of LETOR / SVMlight text to numbers.

The text must end in a newline: every inner loop stops there at the latest, so none checks the size.
Positions are unsigned, for which Numba leaves out the test for negative indices; that alone makes
the parser 1.6 times as fast.

Plain short decimals are read on the spot and longer numbers by `rankopt.kernels.numbers`; whatever
neither can settle to the last bit, the caller hands to ``float``.
"""

import numpy as np
from numba import njit

from rankopt.kernels.numbers import (
    BLANK,
    CLOSE,
    EXACT,
    HASH,
    MINUS,
    ONE,
    POINT,
    POWERS,
    digits,
    number,
    token_end,
)

NEWLINE, COLON, EQUALS = 10, 58, 61

OK, NO_QID, UNWANTED_QID, BAD_FEATURE, ID_RANGE, REPEATED_ID = range(6)

_SHORT = 15  # digits of any number below 2^53
_NEAR = 2.0**-50  # above the relative error, all roundings included, of a number that is close


@njit(cache=True, nogil=True)
def _skip_blanks(text, p):
    while text[p] <= BLANK and text[p] != NEWLINE:
        p += ONE
    return p


@njit(cache=True, nogil=True)
def _says_missing(text, p, end):
    """Whether a token is NULL or nan, in any case."""
    if end - p != np.uint64(3) and end - p != np.uint64(4):
        return False
    second, third = text[p + ONE] | 32, text[p + ONE + ONE] | 32
    if text[p] | 32 != 110:  # n
        return False
    if end - p == np.uint64(3):
        return second == 97 and third == 110  # an
    return second == 117 and third == 108 and text[end - ONE] | 32 == 108  # ull


@njit(cache=True, nogil=True)
def _store(text, p, missing, values, entry):
    """Put any value into its entry: the position after it, and whether that settles it."""
    value, trust, end = number(text, p)
    values[entry] = value
    if trust == EXACT:
        return end, True
    if trust == CLOSE:
        values[entry] = value * (1.0 - _NEAR)
        below = values[entry]
        values[entry] = value * (1.0 + _NEAR)
        return end, below == values[entry] and abs(below) != np.inf
    if _says_missing(text, p, end):
        values[entry] = missing
        return end, True
    return end, False


@njit(cache=True, nogil=True, error_model="numpy")
def _features(text, p, entry, odds, first_id, last_id, missing, columns, values, odd):
    """The ``id:value`` tokens of one line, up to its comment or end.

    Plain short decimals are read here: a helper that returned them would halve the speed.
    """
    begin = entry
    previous = np.int64(-1)
    ascending = True
    while True:
        p = _skip_blanks(text, p)
        if text[p] == NEWLINE or text[p] == HASH:
            break
        start = p
        column, p = digits(text, p, np.int64(0))
        if text[p] != COLON or p == start or p - start > np.uint64(10):
            return start, entry, odds, BAD_FEATURE
        if column < first_id or column > last_id:
            return start, entry, odds, ID_RANGE
        ascending = ascending and column > previous
        previous = column
        columns[entry] = column
        p += ONE
        start = p
        negative = text[p] == MINUS
        if negative:
            p += ONE
        first = p
        mantissa, p = digits(text, p, np.int64(0))
        length = p - first
        decimals = np.uint64(0)
        if text[p] == POINT:
            p += ONE
            first = p
            mantissa, p = digits(text, p, mantissa)
            decimals = p - first
            length += decimals
        if text[p] <= BLANK and length > 0 and length <= _SHORT:
            value = np.float64(mantissa) / POWERS[decimals]
            values[entry] = -value if negative else value
        else:
            p, settled = _store(text, start, missing, values, entry)
            if not settled:
                odd[odds, 0] = entry
                odd[odds, 1] = start
                odds += 1
        entry += 1
    if not ascending and not np.all(np.diff(np.sort(columns[begin:entry])) > 0):
        return p, entry, odds, REPEATED_ID
    return p, entry, odds, OK


@njit(cache=True, nogil=True)
def _query(text, p):
    """The bounds of the identifier of a ``qid:`` token, empty where there is none."""
    q = p
    for letter in (113, 105, 100, COLON):  # q i d :
        if text[q] != letter:
            return p, p
        q += ONE
    return q, token_end(text, q)


@njit(cache=True, nogil=True)
def _document(text, p):
    """The bounds of the document identifier of a comment; p is the position after its hash."""
    p = _skip_blanks(text, p)
    q = p
    for letter in (100, 111, 99, 105, 100):  # d o c i d
        if text[q] | 32 != letter:
            break
        q += ONE
    else:
        if text[q] <= BLANK or text[q] == EQUALS or text[q] == COLON:
            p = _skip_blanks(text, q)
            if text[p] == EQUALS or text[p] == COLON:
                p = _skip_blanks(text, p + ONE)
    q = p
    while text[q] > BLANK:
        q += ONE
    return p, q


@njit(cache=True, nogil=True)
def _same(text, a, b, length):
    i = np.uint64(0)
    while i < length and text[a + i] == text[b + i]:
        i += ONE
    return i == length


@njit(cache=True, nogil=True)
def parse_lines(
    text, size, with_qid, first_id, last_id, missing, labels, starts, stops, odd_labels,
    run_rows, run_bounds, doc_bounds, columns, values, odd,
):  # fmt: skip
    """All lines of a text: ``<label> qid:<id> <feature>:<value> ... # <comment>``.

    Rows are numbered from 0; blank lines and lines that only hold a comment are none. Written are

    labels, starts, stops : label, position of the line and end of the entries, per row.
    odd_labels : rows whose label is left to the caller.
    run_rows, run_bounds : first row and bounds of the identifier, per run of rows of one query.
    doc_bounds : bounds of the document identifier per row; empty without a comment.
    columns, values : feature id and value per entry.
    odd : entry and position of the values left to the caller.

    Returns the numbers of rows, runs, odd labels and odd values, a code and its position.
    """
    rows = runs = strange = odds = entry = 0
    p = qid = np.uint64(0)
    length = np.uint64(0)
    while p < size:
        p = _skip_blanks(text, p)
        if text[p] != NEWLINE and text[p] != HASH:
            starts[rows] = p
            labels[rows], trust, p = number(text, p)
            if trust != EXACT:
                odd_labels[strange] = rows
                strange += 1
            p = _skip_blanks(text, p)
            start, end = _query(text, p)
            if with_qid == (start == end):
                return rows, runs, strange, odds, NO_QID if with_qid else UNWANTED_QID, p
            if with_qid:
                if runs == 0 or end - start != length or not _same(text, start, qid, length):
                    run_rows[runs] = rows
                    run_bounds[runs, 0] = start
                    run_bounds[runs, 1] = end
                    runs += 1
                qid = start
                length = end - start
                p = end
            p, entry, odds, code = _features(
                text, p, entry, odds, first_id, last_id, missing, columns, values, odd
            )
            if code != OK:
                return rows, runs, strange, odds, code, p
            start = end = p
            if text[p] == HASH:
                start, end = _document(text, p + ONE)
            doc_bounds[rows, 0] = start
            doc_bounds[rows, 1] = end
            stops[rows] = entry
            rows += 1
        while text[p] != NEWLINE:
            p += ONE
        p += ONE
    return rows, runs, strange, odds, OK, p


@njit(cache=True, nogil=True)
def count_marks(text, size):
    """The numbers of line ends and of colons in the first `size` bytes."""
    lines = colons = 0
    for p in range(size):
        lines += text[p] == NEWLINE
        colons += text[p] == COLON
    return lines, colons


@njit(cache=True, nogil=True)
def spread_rows(stops, columns, values, first_id, fill, out):
    """Entries to a dense matrix whose column 0 is `first_id`; absent features become `fill`."""
    entry = 0
    for row in range(out.shape[0]):
        out[row, :] = fill
        while entry < stops[row]:
            out[row, np.int64(columns[entry]) - first_id] = values[entry]
            entry += 1


@njit(cache=True, nogil=True)
def copy_tokens(text, bounds, out):
    """Pieces of a text to rows of equal width, padded with zeros."""
    for row in range(out.shape[0]):
        start, end = bounds[row, 0], bounds[row, 1]
        out[row, :] = 0
        for i in range(end - start):
            out[row, i] = text[start + i]
