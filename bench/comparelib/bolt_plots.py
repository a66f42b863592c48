# SPDX-License-Identifier: Apache-2.0
"""The plots of the BoLT paper's suites."""

from .bars import Bars, by_step
from .bolt import BOLT, LEVELDB, ROCKSDB_WHOLE
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


def by_table(groups, results, engine, step):
    """{size of tables: [(1 in so many operations, µs)]}"""
    curves = {f"{g.budget} MB": latencies(g, results, step).get(NAMES[engine]) for g in groups}
    return {name: points for name, points in curves.items() if points}


def table_size(groups, results):
    def by_size(metric):
        return named(series(groups, results, "load", metric, lambda g: g.budget, [LEVELDB]))

    return [
        ("fsyncs", f"Figure 4a: {SYNCS}", "MB per table", by_size("fsyncs_per_gb")),
        (
            *("latency", "Figure 4b: insert latency, µs, of the slowest one in so many, by the size of tables"),
            *("one in", by_table(groups, results, LEVELDB, "load")),
        ),
    ]


def table_cache(groups, results):
    curves = by_table(groups, results, ROCKSDB_WHOLE, "readrandom")
    return [("latency", "Figure 6: read latency, µs, of the slowest one in so many", "one in", curves)]


def all_steps(groups, results, metric):
    """Columns of the steps of several groups."""
    return {
        label: bars
        for group in groups
        for label, bars in by_step(group, results, [step.label for step in group.steps], metric).items()
    }


def bars_of(figure, rates):
    """Operations per second of all steps, and syncs of the load."""

    def draw(groups, results):
        return [
            Bars("ops", f"{figure}: {rates}", all_steps(groups, results, "ops")),
            Bars("fsyncs", f"{figure}: {SYNCS}", by_step(groups[0], results, ["load"], "fsyncs_per_gb")),
        ]

    return draw


def mixes(figure):
    """Operations per second of all steps, and a curve of latency for each."""

    def draw(groups, results):
        plots = [Bars("ops", f"{figure[0]}: operations per second", all_steps(groups, results, "ops"))]
        for group in groups:
            for step in (step.label for step in group.steps):
                title = f"{figure[1]}: {step}, µs of the slowest operation in so many"
                suffix = "latency-" + step.removeprefix("YCSB ").lower().replace(" ", "-")
                plots.append((suffix, title, "one in", latencies(group, results, step)))
        return plots

    return draw


DRAWN = {
    "bolt": load,
    "bolt-4": table_size,
    "bolt-6": table_cache,
    "bolt-11": group_size,
    "bolt-12": bars_of("Figure 12", "operations per second"),
    "bolt-13": mixes(("Figure 13", "Figure 14")),
    "bolt-15c": bars_of("Figure 15c", "operations per second, records of 100 B"),
    "bolt-16": mixes(("Figures 15a and 15b", "Figure 16")),
    "bolt-433": bars_of("4.3.3", "operations per second, small table cache"),
}


def plots(suite, groups, results):
    """As paper.plots."""
    return DRAWN[suite](groups, results)
