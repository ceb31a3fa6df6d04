"""Formulas as MathML, which browsers draw themselves: no network for the reader, no LaTeX for the build."""

from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx


def mathml(tex, *, as_block):
    """MathML of a formula in LaTeX; raise on what docutils does not know."""
    return latex2mathml.tex2mathml(tex, as_block=as_block)


def visit_inline(translator, node):
    """A formula within a line."""
    translator.body.append(mathml(node.astext(), as_block=False))
    raise _done()


def visit_block(translator, node):
    """A formula on lines of its own, which scrolls where the screen is narrow."""
    tex = node.astext()
    tex = rf"\begin{{align*}}{tex}\end{{align*}}" if r"\\" in tex else tex
    translator.body.append(f'<div class="math">{mathml(tex, as_block=True)}</div>\n')
    raise _done()


def _done():
    from docutils.nodes import SkipNode

    return SkipNode()


def setup(app: Sphinx):
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
