"""Rounds, in which every configuration of a program runs once, and what becomes of their ratios. For bench/field and bench/caper."""
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


def turns(configurations, n):
    """The order of round n: nobody is always the first."""
    first = n % len(configurations)
    return [*configurations[first:], *configurations[:first]]
