"""Rounding as readers do it, and as the page's scripts do (JavaScript's toFixed)."""

from decimal import ROUND_HALF_UP, Decimal


def half_up(value: float, digits: int) -> str:
    """A number with so many digits behind the point, a half away from zero: 92.5 is 93, which Python writes as 92.

    Args:
        value: Finite; what the computer holds counts, not how it prints it: 0.15 is less than that.
        digits: Behind the point, from 0.
    """
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):f}"
