"""What tests of the report share: fits to show, and what is seen in a picture."""

import warnings

import numpy as np

import robscore as rs


def fits(X, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robust = rs.RobustGraph("sqrt", **settings).fit(X)
        return robust, rs.RobustGraph("sqrt", n_blocks=1, n_edges=robust.graph_.n_edges).fit(X)


def told(page):
    return page.locator("#told").inner_text()


def spot(page, part):
    """Where on the screen a part of the picture is."""
    page.locator("#graph").scroll_into_view_if_needed()
    box = page.locator("#graph").bounding_box()
    inside = page.evaluate(
        """(id) => {
            const part = robscore.picture.getElementById(id);
            return part.isNode() ? part.renderedPosition() : part.renderedMidpoint();
        }""",
        part,
    )
    return box["x"] + inside["x"], box["y"] + inside["y"]


def shown(page):
    """Pairs in the picture with their colour, line style and sign."""
    drawn = page.evaluate(
        "() => robscore.picture.edges('.link').map(e => ['pair', 'colour', 'dash', 'strength'].map(k => e.data(k)))"
    )
    return {tuple(divmod(pair, 30)): (colour, dash, strength > 0) for pair, colour, dash, strength in drawn}


def pairs_of(model):
    return {tuple(pair) for pair in np.argwhere(np.triu(model.graph_.adjacency)).tolist()}


def press(page, kind, value):
    page.locator(f"[data-{kind}={value}]").click()
