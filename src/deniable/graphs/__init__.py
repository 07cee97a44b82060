"""Who is joined with whom, asked edge by edge: reports, and what can be counted in them."""

from deniable.graphs.edge_list import read_graph, read_names
from deniable.graphs.estimate import (
    Triangles,
    estimate_degrees,
    estimate_edges,
    estimate_triangles,
)
from deniable.graphs.foresee import Outcome, foresee
from deniable.graphs.graph import Graph, graph_of
from deniable.graphs.randomize import edge_channel, randomize_contacts, randomize_graph
from deniable.graphs.reports import GraphReports, gather
from deniable.graphs.roster import Roster
from deniable.graphs.sequence import Sequence

__all__ = [
    "Graph",
    "GraphReports",
    "Outcome",
    "Roster",
    "Sequence",
    "Triangles",
    "edge_channel",
    "estimate_degrees",
    "estimate_edges",
    "estimate_triangles",
    "foresee",
    "gather",
    "graph_of",
    "randomize_contacts",
    "randomize_graph",
    "read_graph",
    "read_names",
]
