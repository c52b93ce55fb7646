"""Formulas as MathML, which browsers show by themselves: the pages load nothing from elsewhere."""

import re

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def _known(formula):
    """What the converter knows: it leaves sizes of delimiters to the browser, and dots have one name."""
    formula = re.sub(r"\\[bB]ig{1,2}[lrm]?(?![A-Za-z])", "", formula)
    return re.sub(r"\\dots(?![A-Za-z])", r"\\ldots", formula)


def visitor(as_block):
    def visit(translator, node):
        try:
            translator.body.append(tex2mathml(_known(node.astext()), as_block=as_block))
        except MathError as error:
            logger.warning("formula %s: %s", node.astext(), error, location=node)
        raise SkipNode

    return visit


def setup(app):
    app.add_html_math_renderer(
        "mathml", inline_renderers=(visitor(False), None), block_renderers=(visitor(True), None)
    )
