"""The variables of a graph: centrality, communities, and an order in which linked ones are next to each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from robscore._tools.optional import require
from robscore._tools.typing import Array


class Centrality(NamedTuple):
    """Measures of each variable, lists with one entry per column.

    Attributes
    ----------
    degree : number of links
    strength : sum of the sizes of their associations
    betweenness : share of the shortest paths between two others that lead through it; strong links are short
    community : number of the community, from 0, the largest first; -1 for variables without links
    """

    degree: list[int]
    strength: list[float]
    betweenness: list[float]
    community: list[int]


def centrality(association: Array) -> Centrality:
    """Centrality and communities of a graph, from its associations of shape (m, m).

    Betweenness is networkx's with length 1 / |association| (Opsahl, Agneessens and Skvoretz, 2010, with exponent 1), as
    in qgraph and bootnet; communities are those of greedy modularity (Clauset, Newman and Moore, 2004).

    Examples
    --------
    >>> import numpy as np
    >>> A = np.eye(4)
    >>> for i, j in ((0, 1), (1, 2)):
    ...     A[i, j] = A[j, i] = 0.5
    >>> found = centrality(A)
    >>> found.degree, found.betweenness, found.community
    ([1, 2, 1, 0], [0.0, 0.3333333333333333, 0.0, 0.0], [0, 0, 0, -1])
    """
    require("networkx")
    import networkx as nx

    size = np.abs(np.where(np.isfinite(association), association, 0.0))
    np.fill_diagonal(size, 0.0)
    m = len(size)
    net = nx.Graph()
    net.add_nodes_from(range(m))
    net.add_weighted_edges_from((int(i), int(j), float(size[i, j])) for i, j in np.argwhere(np.triu(size)))
    for _, _, facts in net.edges(data=True):
        facts["length"] = 1.0 / facts["weight"]
    between = nx.betweenness_centrality(net, weight="length")
    community = [-1] * m
    linked = net.subgraph([k for k in net if net.degree(k)])
    found = nx.community.greedy_modularity_communities(linked, weight="weight") if linked else []
    for number, members in enumerate(sorted(found, key=lambda some: (-len(some), min(some)))):
        for k in members:
            community[k] = number
    return Centrality(
        [int(net.degree(k)) for k in range(m)], size.sum(axis=1).tolist(), [between[k] for k in range(m)], community
    )


def clustered_order(association: Array) -> list[int]:
    """Columns in an order in which strongly linked ones are next to each other: leaves of average linkage.

    The distance of two columns is 1 - |association|.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.eye(4)
    >>> A[0, 2] = A[2, 0] = 0.9
    >>> A[1, 3] = A[3, 1] = 0.8
    >>> clustered_order(A)
    [0, 2, 3, 1]
    """
    m = len(association)
    if m < 3:
        return list(range(m))
    distance = 1.0 - np.minimum(np.abs(np.where(np.isfinite(association), association, 0.0)), 1.0)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), method="average", optimal_ordering=m <= 300)
    return [int(k) for k in leaves_list(tree)]
