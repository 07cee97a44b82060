"""Randomize edges: on one person's device, or a whole graph that somebody holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.bulk.keystream import Keystream, unsafe_seeded
from deniable.bulk.sampler import sampler_of
from deniable.channels import k_ary
from deniable.errors import AnswerError
from deniable.graphs.reports import GraphReports, check_edge_channel
from deniable.graphs.roster import Roster

if TYPE_CHECKING:
    from collections.abc import Collection

    from deniable.channels import Channel, Coin
    from deniable.graphs.graph import Graph
    from deniable.graphs.roster import Ends


def edge_channel(epsilon: float, ends: Ends = 1) -> Channel:
    """Return the channel of one report, so that an edge costs ε at most.

    Of all channels of a level, Warner's has the least variance for edges and for pairs without
    one. Two ends that report the same edge have half of ε each.
    """
    return k_ary(epsilon / ends, 2)


def randomize_contacts(
    contacts: Collection[str], name: str, roster: Roster, channel: Channel, coin: Coin
) -> tuple[int, ...]:
    """Return what one person's device reports, about each of ``roster.asked(name)``.

    Done once: a second report about the same people costs as much again.

    Args:
        contacts: With whom the person is joined. Those about whom others are asked do not count.
        name: The person.
        roster: Who is asked about whom.
        channel: How each is randomized.
        coin: The device's.

    Raises:
        AnswerError: A contact is not on the roster, or the person themselves. Not said who.
    """
    check_edge_channel(channel)
    known = set(roster.names) - {name}
    if not set(contacts) <= known:
        problem = "a contact is not on the roster"
        raise AnswerError(problem, expected="others on the roster")
    return tuple(channel.randomize(int(other in contacts), coin)[0] for other in roster.asked(name))


def randomize_graph(
    graph: Graph, epsilon: float, *, ends: Ends = 1, unsafe_seed: int | None = None
) -> GraphReports:
    """Return the reports of everybody in a graph, as if each had had a device.

    Args:
        graph: The truth.
        epsilon: The level of an edge.
        ends: How many of its ends report an edge; two have half of ε each.
        unsafe_seed: Make the same reports again. Who knows the seed knows every edge.
    """
    return randomize_through(graph, edge_channel(epsilon, ends), ends=ends, unsafe_seed=unsafe_seed)


def randomize_through(
    graph: Graph, channel: Channel, *, ends: Ends = 1, unsafe_seed: int | None = None
) -> GraphReports:
    """Do so through any channel that fits."""
    roster = Roster(graph.names, ends)
    whom = roster.whom
    there = whom >= 0
    rows = np.broadcast_to(np.arange(len(roster))[:, None], whom.shape)
    cells = graph.joined[rows[there], whom[there]].astype(np.uint8)
    stream = Keystream() if unsafe_seed is None else unsafe_seeded(unsafe_seed, 0)
    bits = np.zeros(whom.shape, np.uint8)
    bits[there] = sampler_of(channel).randomize(cells, stream)
    return GraphReports(roster, channel, bits, np.ones(len(roster), np.bool_))
