"""P(report | answer) in exact integers, its ε, inverse and variance; and the one door to chance."""

from deniable.channels.choose import best, channel_for, mean_error
from deniable.channels.coin import Coin, SystemCoin, WordCoin, fresh_id, fresh_key
from deniable.channels.contract import Channel, Value
from deniable.channels.exact import format_epsilon
from deniable.channels.k_ary import KAry, k_ary, warner
from deniable.channels.local_hash import LocalHash, local_hash
from deniable.channels.matrix import Matrix, matrix, rounded_laplace
from deniable.channels.moments import Support, estimate, support_of, supports, variances
from deniable.channels.privacy import epsilon_of, epsilon_of_all, keeps_floor, total_variation_of
from deniable.channels.subset import SubsetSelection, subset
from deniable.channels.two_coin import TwoCoin, two_coin, uniform_two_coin, with_floor
from deniable.channels.unary import Unary, optimized_unary, symmetric_unary
from deniable.channels.wire import channel_from_dict, channel_to_dict

__all__ = [
    "Channel",
    "Coin",
    "KAry",
    "LocalHash",
    "Matrix",
    "SubsetSelection",
    "Support",
    "SystemCoin",
    "TwoCoin",
    "Unary",
    "Value",
    "WordCoin",
    "best",
    "channel_for",
    "channel_from_dict",
    "channel_to_dict",
    "epsilon_of",
    "epsilon_of_all",
    "estimate",
    "format_epsilon",
    "fresh_id",
    "fresh_key",
    "k_ary",
    "keeps_floor",
    "local_hash",
    "matrix",
    "mean_error",
    "optimized_unary",
    "rounded_laplace",
    "subset",
    "support_of",
    "supports",
    "symmetric_unary",
    "total_variation_of",
    "two_coin",
    "uniform_two_coin",
    "variances",
    "warner",
    "with_floor",
]
