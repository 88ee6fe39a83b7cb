"""Rounds, in which every configuration of a program runs once, and what becomes of their ratios. For bench/field
and bench/caper.
"""
import math
import statistics

# Student's t for 95%, by degrees of freedom; for more, the last.
STUDENT = [float(t) for t in "12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 2.20 2.18 2.16 2.14 2.13".split()]
UNKNOWN = 9.0  # of one sample, in place of half an interval: a factor of thousands


def interval(ratios):
    """The geometric mean, and the ends of its 95% confidence interval."""
    logs = [math.log(r) for r in ratios]
    mean, n = statistics.fmean(logs), len(logs)
    half = STUDENT[min(n - 2, len(STUDENT) - 1)] * statistics.stdev(logs) / math.sqrt(n) if n > 1 else UNKNOWN
    return [math.exp(mean), math.exp(mean - half), math.exp(mean + half)]


def robust(ratios):
    """A value that a run or two out of line do not move, and the ends of its 95% confidence interval.

    From six ratios on: the median of the means of all pairs of logarithms (Hodges and Lehmann's estimate), with the
    interval that belongs to Wilcoxon's signed-rank test. Fewer than six allow no such interval, and are averaged.
    """
    n = len(ratios)
    if n < 6:
        return interval(ratios)
    logs = [math.log(r) for r in ratios]
    means = sorted((a + b) / 2 for i, a in enumerate(logs) for b in logs[i:])
    at = rank_of_end(n)
    return [math.exp(v) for v in (statistics.median(means), means[at], means[-1 - at])]


def rank_of_end(n):
    """How many of the means of pairs are outside of the interval, at either end: at most 2.5% of what may come by chance."""
    sums = [1]  # of how many sets of the ranks 1 to n each sum is
    for rank in range(1, n + 1):
        longer = sums + [0] * rank
        for i, count in enumerate(sums):
            longer[i + rank] += count
        sums = longer
    total, below = sum(sums), 0
    for at, count in enumerate(sums):
        below += count
        if below > 0.025 * total:
            return max(at - 1, 0)
    return 0


def turns(configurations, n):
    """The order of round n: nobody is always the first."""
    first = n % len(configurations)
    return [*configurations[first:], *configurations[:first]]
