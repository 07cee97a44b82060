"""Designs side by side: what each asks, what it costs a respondent, how sure a pair would be."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels import KAry, LocalHash, SubsetSelection
from deniable.channels.coin import WORD
from deniable.errors import ChannelError, DesignError, EstimationError
from deniable.estimation.reduce import Slices, lens_of, places_of
from deniable.protocol import (
    attribute_epsilons,
    coverage_of,
    design_for,
    people_per_view,
    view_epsilons,
)
from deniable.schema import Privacy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from deniable.channels import Channel
    from deniable.protocol import Coverage, Design, Group
    from deniable.schema import Survey
    from deniable.schema.privacy import DesignName

Z_95 = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a design means for those who answer and those who ask.

    Attributes:
        label: The design and the options that set it apart.
        design: The design.
        coverage: What its views cover.
        answer: ε of one answer: the costliest view, all its groups together.
        respondent: ε of all answers that one respondent may give.
        attribute: ε of the costliest attribute: what a change in one answer alone could show.
        people: The expected number of respondents of the least asked view.
        half_width: The half-width of a pair's 95 % interval at even shares, mean over the pairs
            that can be estimated.
        widest: The same for the worst pair; infinite if some pair cannot be estimated.
    """

    label: str
    design: Design
    coverage: Coverage
    answer: float
    respondent: float
    attribute: float
    people: float
    half_width: float
    widest: float


def summarize(survey: Survey, people: int, label: str | None = None) -> Summary:
    """Return what a survey's design means if so many people answer."""
    design = design_for(survey)
    answer = max(view_epsilons(design.channels))
    widths = [Z_95 * error for error in pair_errors(design, people)]
    sure = [width for width in widths if math.isfinite(width)]
    return Summary(
        label=label or label_of(survey.privacy),
        design=design,
        coverage=coverage_of(design),
        answer=answer,
        respondent=answer * design.repeats,
        attribute=max(attribute_epsilons(design, design.channels)),
        people=min(people_per_view(design, people)),
        half_width=sum(sure) / len(sure) if sure else math.nan,
        widest=max(widths, default=math.nan),
    )


def compare_designs(survey: Survey, people: int) -> tuple[list[Summary], list[str]]:
    """Return the survey's own design and the others it might name, at the same promise.

    Also returns a sentence for each that cannot be had.
    """
    found, refused = [], []
    seen: set[str] = set()
    for privacy in _alternatives(survey):
        label = label_of(privacy)
        try:
            summary = summarize(replace(survey, privacy=privacy), people, label)
        except (DesignError, ChannelError, EstimationError) as error:
            refused.append(f"{label}: {error}")
            continue
        if summary.design.digest not in seen:
            seen.add(summary.design.digest)
            found.append(summary)
    return found, refused


def label_of(privacy: Privacy) -> str:
    """Return a design's name with the options that set it apart.

    >>> label_of(Privacy(1.0, "views", {"k": 3, "cover": "pairs"}))
    'views k=3 pairs'
    """
    words: list[str] = [privacy.design]
    if "k" in privacy.options:
        words.append(f"k={privacy.options['k']}")
    if privacy.options.get("cover") == "pairs":
        words.append("pairs")
    return " ".join(words)


def _alternatives(survey: Survey) -> Iterator[Privacy]:
    own = survey.privacy
    yield own
    kept = {key: own.options[key] for key in ("max_cells",) if key in own.options}
    count = len(survey.schema.names)
    choices: list[tuple[DesignName, dict[str, object]]] = [("independent", {}), ("joint", {})]
    choices += [("ask-one", {"k": k, **kept}) for k in (1, 2, 3, 4) if k <= count]
    choices += [("views", {"k": k, **kept}) for k in (2, 3) if k < count]
    if count > 3:  # noqa: PLR2004 -- three attributes are one triple
        choices.append(("views", {"k": 3, "cover": "pairs", **kept}))
    choices.append(("rrba", {"k": min(2, count), **kept}))
    for design, options in choices:
        if design != "rrba" and own.design != "rrba" and "channel" in own.options:
            options["channel"] = own.options["channel"]
        yield Privacy(own.epsilon, design, options, own.repeats, own.level)


def pair_errors(design: Design, people: int) -> list[float]:
    """Return for each pair of attributes the root mean squared error of a cell, by formula.

    At even shares and without looking at any data: every view that asks both attributes,
    in one group or in two, gives an unbiased estimate with variance (noise − Σπ²)/n.
    """
    asked = people_per_view(design, people)
    noise = _noises(design)
    errors = []
    for pair in combinations(range(len(design.attributes)), 2):
        cells = design.sizes[pair[0]] * design.sizes[pair[1]]
        information = 0.0
        for number, view in enumerate(design.views):
            met = [p for p, g in enumerate(view.groups) if set(g.attributes) & set(pair)]
            if sum(len(set(view.groups[p].attributes) & set(pair)) for p in met) < len(pair):
                continue
            each = math.prod(noise(number, place, pair) for place in met)
            information += asked[number] / (each - 1 / cells)
        errors.append(math.sqrt(1 / information / cells) if information else math.inf)
    return errors


def _noises(design: Design) -> Callable[[int, int, tuple[int, int]], float]:
    """Return E Σ U² of a view's group, reduced to those attributes of a pair that it holds."""

    @cache
    def noise_of(view: int, place: int, kept: tuple[int, ...]) -> float:
        group = design.views[view].groups[place]
        return _noise(group, design.channels[view][place], kept)

    def noise(view: int, place: int, pair: tuple[int, int]) -> float:
        held = design.views[view].groups[place].attributes
        return noise_of(view, place, tuple(a for a in pair if a in held))

    return noise


def _noise(group: Group, channel: Channel, kept: Sequence[int]) -> float:
    slices = Slices(group.sizes, places_of(group.attributes, kept))
    cells = slices.cells
    match channel:  # the two kinds that large groups have, without laying their cells out
        case KAry():
            truth = channel.head / WORD
            lie = (1 - truth) / cells
            return (1 - 2 * lie + cells * lie**2) / truth**2
        case SubsetSelection(chosen=chosen, size=size):
            inside = channel.head / WORD
            slope = inside - (chosen - inside) / (size - 1)
            spread = chosen * (cells - 1) / cells**2 * (size - chosen) / (size - 1)
            return cells * spread / slope**2 + 1 / cells
        case LocalHash():  # any one report will do: the noise is that of the channel
            report = np.array([1, 0, 0])
        case _:
            report = np.zeros(channel.width, np.int64)
    lens, _ = lens_of(channel, slices, report.astype(np.int64).reshape(1, -1))
    return lens.noise
