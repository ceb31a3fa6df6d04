"""Every figure draws on the axes it is given, states its finding, and names what it shows."""

import dataclasses

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection
from plot.boxes import outside, overlapping

import robscore as rs
from robscore.plot.positions import LabelRoom, text_width


@pytest.fixture(scope="module")
def model():
    rain = rs.datasets.simulated_alpine_rain(261)
    X, _ = rs.simulate.contaminate_pareto(rain.X, 0.05, random_state=1)
    import pandas as pd

    return rs.RobustGraph("sqrt", select=["ebic", "cv"], n_blocks=1, alphas=20).fit(pd.DataFrame(X, columns=rain.names))


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def curves():
    rng = np.random.default_rng(0)
    made = []
    for _ in range(3):
        tpr = np.sort(rng.random(9))
        made.append(rs.metrics.RocCurve(np.linspace(0, 1, 11), np.concatenate([[0], tpr, [1]])))
    return made


FIGURES = {
    "graph": lambda model, ax: rs.plot.plot_graph(model, ax=ax),
    "map": lambda model, ax: rs.plot.plot_map(model, rs.datasets.simulated_alpine_rain(5).coordinates, ax=ax),
    "path": lambda model, ax: rs.plot.plot_path(model, ax=ax),
    "criterion": lambda model, ax: rs.plot.plot_criterion(model, ax=ax),
    "weights": lambda model, ax: rs.plot.plot_weights(model, marked=[1, 2], ax=ax),
    "rows": lambda model, ax: rs.plot.plot_rows(model, ax=ax),
    "roc": lambda model, ax: rs.plot.plot_roc({"a": curves(), "b": curves()[0]}, ax=ax),
    "recovery": lambda model, ax: rs.plot.plot_recovery(model.interaction_, np.ones((30, 30)), ax=ax),
}


@pytest.mark.parametrize("name", FIGURES)
def test_axes_are_taken_and_returned_with_a_title_and_a_legend(model, name):
    ax = plt.figure(figsize=(7, 7)).add_subplot()
    assert FIGURES[name](model, ax) is ax
    assert ax.get_title()
    assert ax.get_legend().get_texts()
    if ax.axison:
        assert ax.get_xlabel()
        assert ax.get_ylabel()
    ax.figure.canvas.draw()
    own = FIGURES[name](model, None)
    assert own is not ax
    own.figure.canvas.draw()


def test_a_graph_shows_its_edges_by_sign(model):
    ax = rs.plot.plot_graph(model)
    drawn = sum(len(lines.get_segments()) for lines in ax.collections if isinstance(lines, LineCollection))
    assert drawn == model.graph_.n_edges
    assert ax.get_title().startswith(f"{model.graph_.n_edges} edges between 30 variables")
    assert {text.get_text() for text in ax.texts} == set(model.graph_.names)


def test_marked_pairs_are_told_apart(model):
    other = np.zeros((30, 30), dtype=bool)
    i, j = np.argwhere(np.triu(model.graph_.adjacency))[0]
    other[i, j] = other[j, i] = True
    ax = rs.plot.plot_graph(model, marked=("special", other))
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == [f"other edges ({model.graph_.n_edges - 1})", "special (1)"]


def test_the_same_layout_gives_the_same_places(model):
    layout = rs.plot.shared_layout(model.interaction_)
    first, second = (
        rs.plot.plot_graph(graph, layout=layout).collections[-1].get_offsets()
        for graph in (model.graph_, model.graph_at(-1))
    )
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, layout)


def test_columns_of_a_data_frame_are_names():
    pd = pytest.importorskip("pandas")
    columns = pd.DataFrame(columns=["rain", "snow", "hail"]).columns
    chain = 2 * np.eye(3) - 0.4 * np.eye(3, k=1) - 0.4 * np.eye(3, k=-1)
    for draw in (rs.plot.plot_graph, lambda K, names: rs.plot.plot_recovery(K, chain, names=names)):
        assert {text.get_text() for text in draw(chain, names=columns).texts} >= set(columns)


@pytest.mark.parametrize("n_edges", [0, 60, 200, 435])
def test_names_do_not_cover_each_other(n_edges):
    rng = np.random.default_rng(n_edges)
    adjacency = np.zeros((30, 30), dtype=bool)
    i, j = np.triu_indices(30, k=1)
    some = rng.choice(i.size, n_edges, replace=False)
    adjacency[i[some], j[some]] = True
    ax = rs.plot.plot_graph((adjacency | adjacency.T).astype(float), names=[f"variable {k}" for k in range(30)])
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) >= 28
    for k, box in enumerate(boxes):
        assert not any(box.shrunk(0.97, 0.8).overlaps(other.shrunk(0.97, 0.8)) for other in boxes[:k])


def test_labels_without_room_are_cut_and_never_left_out():
    edges, frame = np.zeros((0, 2), dtype=int), np.array([-50, -50, 50, 50])
    room = LabelRoom(np.zeros((20, 2)), size=10, radius=3, edges=edges, frame=10 * frame)
    assert 1 <= sum(side is not None for side in room.sides(["a long name"] * 20)) < 20
    labels = dataclasses.replace(room, frame=frame).labels(["a long name"] * 20)
    assert len(labels) == 20
    assert all(text for text, _ in labels)
    assert text_width("漢字") > text_width("ab")


WORDS = ("variable_", "measurement ", "concentration of ", "soil-")
LONG = [f"{WORDS[k % 4]}{k:03d} of the upper layer at noon"[:40].ljust(40, "x") for k in range(30)]


@pytest.fixture(scope="module")
def long_model():
    rain = rs.datasets.simulated_alpine_rain(261)
    X, _ = rs.simulate.contaminate_pareto(rain.X, 0.05, random_state=1)
    import pandas as pd

    return rs.RobustGraph("sqrt", select="ebic", alphas=40).fit(pd.DataFrame(X, columns=LONG))


@pytest.mark.long
@pytest.mark.parametrize("name", [*FIGURES, "marked", "fit", "edges", "matrix", "centrality"])
def test_no_text_is_cut_off_or_lies_over_another(long_model, name):
    rain = rs.datasets.simulated_alpine_rain(5)
    across = ("across the ridge", rs.datasets.crosses_ridge(rain.coordinates), "on one side of the ridge")
    more = {
        "marked": lambda: rs.plot.plot_map(long_model, rain.coordinates, marked=across),
        "recovery": lambda: rs.plot.plot_recovery(long_model.interaction_, rain.interaction, names=LONG),
        "fit": lambda: rs.plot.plot_fit(long_model),
        "edges": lambda: rs.plot.plot_edges(long_model),
        "matrix": lambda: rs.plot.plot_matrix(long_model),
        "centrality": lambda: rs.plot.plot_centrality(long_model),
    }
    made = more[name]() if name in more else FIGURES[name](long_model, None)
    figure = made if hasattr(made, "savefig") else made.figure
    assert outside(figure) == []
    assert overlapping(figure) == []
    if name in ("graph", "map", "recovery", "marked"):
        assert len(made.texts) == 30
    if name == "marked":
        assert made.get_legend().get_texts()[0].get_text().startswith("on one side of the ridge")


def test_edges_are_shown_with_the_intervals_of_the_table(model):
    ax = rs.plot.plot_edges(model, n_edges=10)
    table = model.edge_intervals()
    kept = table[table["in_graph"]]
    strongest = kept.iloc[np.argsort(-kept["association"].abs(), kind="stable")[:10]]
    drawn = sorted(x for line in ax.containers for x in line.lines[0].get_xdata())
    np.testing.assert_allclose(drawn, sorted(strongest["association"]))
    assert len(ax.get_yticklabels()) == 10
    clear = int(kept["significant"].sum())
    assert ax.get_title(loc="right").startswith(f"{clear} of {len(kept)} edges are clearly not zero")


def test_a_matrix_shows_every_edge_twice(model):
    ax = rs.plot.plot_matrix(model)
    values = np.asarray(ax.images[0].get_array().filled(0))
    assert np.count_nonzero(values) == 2 * model.graph_.n_edges
    np.testing.assert_array_equal(values, values.T)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert sorted(names) == sorted(model.graph_.names)
    i, j = (names.index(name) for name in model.edges().iloc[0][["source", "target"]])
    assert values[i, j] == model.edges().iloc[0]["association"]
    with pytest.raises(ValueError, match="order must hold every column"):
        rs.plot.plot_matrix(model, order=[0, 0])


def test_layouts_keep_places_apart():
    positions = rs.plot.shared_layout(np.zeros((40, 40)))
    apart = np.linalg.norm(positions[:, None] - positions[None], axis=2) + np.eye(40)
    assert apart.min() > 0.3 / np.sqrt(40)
    assert rs.plot.shared_layout(np.zeros((1, 1))).shape == (1, 2)
    assert np.isfinite(rs.plot.shared_layout(np.ones((150, 150)))).all()


def test_maps_keep_shapes_and_cross_the_date_line():
    flat = rs.plot.map_layout([[0.0, 179.0], [0.0, -179.0], [1.0, 180.0]])
    np.testing.assert_allclose(flat[:, 0], [-1.0, 1.0, 0.0], atol=1e-3)
    with pytest.raises(ValueError, match="latitude"):
        rs.plot.map_layout([[100.0, 0.0]])


def test_bad_input_says_what_is_wrong(model):
    with pytest.raises(ValueError, match="square matrix"):
        rs.plot.plot_graph(np.ones((2, 3)))
    with pytest.raises(ValueError, match="names has 2 entries for 3 columns"):
        rs.plot.plot_graph(np.eye(3), names=["a", "b"])
    with pytest.raises(ValueError, match="two numbers for each of 30 columns"):
        rs.plot.plot_map(model, np.ones((3, 2)))
    with pytest.raises(ValueError, match="marked has shape"):
        rs.plot.plot_graph(model, marked=("x", np.ones((2, 2))))
    with pytest.raises(ValueError, match="curves is empty"):
        rs.plot.plot_roc({})
    given = rs.RobustGraph("gaussian", alpha=0.1).fit(np.random.default_rng(0).normal(size=(50, 3)))
    with pytest.raises(ValueError, match="not chosen by a rule"):
        rs.plot.plot_criterion(given)


def test_graphs_along_the_path(model):
    assert model.graph_at(0).n_edges == 0
    position = int(np.flatnonzero(model.path_.alphas == model.alpha_)[0])
    np.testing.assert_array_equal(model.graph_at(position).interaction, model.interaction_)
    with pytest.raises(ValueError, match="position=1000"):
        model.graph_at(1000)


def test_a_matrix_whose_signs_may_mean_two_things_is_refused_until_it_is_said(model):
    associations = model.graph_.association
    for shown in (associations, associations - np.eye(len(associations))):
        for draw in (rs.plot.plot_matrix, rs.plot.plot_graph, rs.plot.plot_centrality):
            with pytest.raises(ValueError, match="may hold associations or K, whose signs are opposite"):
                draw(shown)
        drawn = np.asarray(rs.plot.plot_matrix(shown, values="association").images[0].get_array())
        expected = np.asarray(rs.plot.plot_matrix(model).images[0].get_array())
        np.testing.assert_allclose(drawn, expected)
    as_K = np.asarray(rs.plot.plot_matrix(associations, values="interaction").images[0].get_array())
    np.testing.assert_allclose(as_K, -expected)
    with pytest.raises(ValueError, match="values='K' is not known"):
        rs.plot.plot_matrix(model.graph_.interaction, values="K")
