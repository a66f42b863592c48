# SPDX-License-Identifier: Apache-2.0
"""The plots of the BoLT paper's suites."""

from .bars import Bars, by_step
from .bolt import BOLT
from .paper import median_of, named, series
from .plan import NAMES

PERCENTILES = (("p50", 2), ("p95", 20), ("p99", 100), ("p999", 1000))
SYNCS, LOADED = "syncs per GB loaded", "records per second"


def latencies(group, results, step="load"):
    """{engine: [(1 in so many operations, µs)]}"""
    curves = {}
    for engine in group.engines:
        points = [(one_in, median_of(results, group, step, engine, f"{name}_us")) for name, one_in in PERCENTILES]
        points = [(x, y) for x, y in points if y is not None]
        if points:
            curves[NAMES[engine]] = points
    return curves


def load(groups, results):
    engines = groups[0].engines

    def by_size(metric):
        return named(series(groups, results, "load", metric, lambda g: g.records, engines))

    latency = latencies(groups[-1], results)
    return [
        ("fsyncs", "Syncs per GB loaded", "records of 1 KB", by_size("fsyncs_per_gb")),
        ("load", "Loading, records per second", "records of 1 KB", by_size("ops")),
        ("latency", "Figure 14a: insert latency, µs, of the slowest one in so many", "one in", latency),
    ]


def group_size(groups, results):
    def by_group(metric):
        return named(series(groups, results, "load", metric, lambda g: g.budget, [BOLT]))

    return [
        ("fsyncs", f"Figure 11: {SYNCS}", "MB of tables per compaction", by_group("fsyncs_per_gb")),
        ("load", f"Figure 11: {LOADED}", "MB of tables per compaction", by_group("ops")),
    ]


def bars_of(figure, rates):
    """Operations per second of all steps, and syncs of the load."""

    def draw(groups, results):
        group = groups[0]
        steps = [step.label for step in group.steps]
        return [
            Bars("ops", f"{figure}: {rates}", by_step(group, results, steps, "ops")),
            Bars("fsyncs", f"{figure}: {SYNCS}", by_step(group, results, ["load"], "fsyncs_per_gb")),
        ]

    return draw


def mixes(figure):
    """Operations per second of all steps, and a curve of latency for each."""

    def draw(groups, results):
        group = groups[0]
        steps = [step.label for step in group.steps]
        plots = [Bars("ops", f"{figure[0]}: operations per second", by_step(group, results, steps, "ops"))]
        for step in steps:
            title = f"{figure[1]}: {step}, µs of the slowest operation in so many"
            suffix = "latency-" + step.split()[-1].lower()
            plots.append((suffix, title, "one in", latencies(group, results, step)))
        return plots

    return draw


DRAWN = {
    "bolt": load,
    "bolt-11": group_size,
    "bolt-12": bars_of("Figure 12", "operations per second"),
    "bolt-13": mixes(("Figure 13", "Figure 14")),
    "bolt-15c": bars_of("Figure 15c", f"{LOADED} of 100 B"),
    "bolt-16": mixes(("Figures 15a and 15b", "Figure 16")),
    "bolt-433": bars_of("4.3.3", "operations per second, small table cache"),
}


def plots(suite, groups, results):
    """As paper.plots."""
    return DRAWN[suite](groups, results)
