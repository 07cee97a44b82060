"""What crosses the wire: group, view, design, block, report, tally."""

from deniable.protocol.block import Block, first_block, next_block
from deniable.protocol.canonical import canonical, decode_bytes, digest, encode_bytes
from deniable.protocol.classic import update_by_blocks, update_by_clients
from deniable.protocol.compile import design_for
from deniable.protocol.coverage import Coverage, coverage_of, people_per_view, people_together
from deniable.protocol.covering import cover_pairs, least_views
from deniable.protocol.design import (
    Design,
    Group,
    Rule,
    View,
    attribute_epsilons,
    view_epsilons,
)
from deniable.protocol.factorization import factorize
from deniable.protocol.reading import (
    block_from_bytes,
    block_from_dict,
    design_from_bytes,
    design_from_dict,
)
from deniable.protocol.report import Report, check_report, report_from_bytes, report_from_dict
from deniable.protocol.tally import (
    Stratum,
    Tally,
    strata_of,
    tally_from_bytes,
    tally_of,
)
from deniable.protocol.views import all_groups, round_robin, single_groups

__all__ = [
    "Block",
    "Coverage",
    "Design",
    "Group",
    "Report",
    "Rule",
    "Stratum",
    "Tally",
    "View",
    "all_groups",
    "attribute_epsilons",
    "block_from_bytes",
    "block_from_dict",
    "canonical",
    "check_report",
    "cover_pairs",
    "coverage_of",
    "decode_bytes",
    "design_for",
    "design_from_bytes",
    "design_from_dict",
    "digest",
    "encode_bytes",
    "factorize",
    "first_block",
    "least_views",
    "next_block",
    "people_per_view",
    "people_together",
    "report_from_bytes",
    "report_from_dict",
    "round_robin",
    "single_groups",
    "strata_of",
    "tally_from_bytes",
    "tally_of",
    "update_by_blocks",
    "update_by_clients",
    "view_epsilons",
]
