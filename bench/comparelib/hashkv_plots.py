# SPDX-License-Identifier: Apache-2.0
"""The plots of the HashKV paper's suites. Where an experiment has steps or mixes instead of sizes they are bars."""

from .bars import Bars, by_group, by_metric, by_step
from .hashkv import HASHKV, KEY, LESS_SKEWED, PHASES, SCAN, VLOG, YCSB
from .paper import named, series

LAST = PHASES[-1]
UPDATES = "updates per second"
WRITTEN = "bytes written per byte of updates"
AGED = [f"YCSB {w.upper()}" for w in YCSB]
# Figure 7c's parts, as far as they exist here.
PARTS = {
    "the client's call": "avg_us",
    "flushing": "flush_us",
    "collecting": "collect_us",
    "merging": "merge_us",
    "committing": "commit_us",
}


def by_budget(groups, results, metric):
    engines = list(dict.fromkeys(engine for group in groups for engine in group.engines))
    return named(series(groups, results, LAST, metric, lambda g: g.budget, engines))


def by_pair(groups, results, step, metric):
    return named(series(groups, results, step, metric, lambda g: g.value_size + KEY, groups[0].engines))


def updates_and_bytes(figure, x_label, groups, results, prefix="", linear=False):
    """Two curves over the budgets of the groups."""
    return [
        (f"{prefix}ops", f"{figure}: {UPDATES}", x_label, by_budget(groups, results, "ops"), linear),
        (f"{prefix}written", f"{figure}: {WRITTEN}", x_label, by_budget(groups, results, "write_amp_tables"), linear),
    ]


def phases(figure):
    """Bars of the phases of updates, by each constant of Zipf's law."""

    def draw(groups, results):
        bars = []
        for group in groups:
            skew = f"-{LESS_SKEWED}" if group.name.endswith(f"-{LESS_SKEWED}") else ""
            title = f"{figure}, zipf {LESS_SKEWED}" if skew else figure
            bars += [
                Bars(f"ops{skew}", f"{title}: {UPDATES}", by_step(group, results, PHASES, "ops")),
                Bars(f"written{skew}", f"{title}: {WRITTEN}", by_step(group, results, PHASES, "write_amp_tables")),
            ]
        return bars

    return draw


def main(groups, results):
    group = groups[0]
    filled = ["load", *PHASES]
    return [
        Bars("ops", "Loading and updating, operations per second", by_step(group, results, filled, "ops")),
        # By the device: RocksDB's count of a table's bytes leaves out blob files.
        Bars("written", "Bytes that reached the device per byte written", by_step(group, results, filled, "write_amp")),
        Bars("space", "Space at its peak per byte of live data", by_step(group, results, filled, "peak_space_amp")),
        Bars("aged", "YCSB of the aged store, operations per second", by_step(group, results, AGED, "ops")),
        Bars("aged-p95", "Figure 15b: YCSB of the aged store, p95 latency, µs", by_step(group, results, AGED, "p95_us")),
        Bars("scans", "Scans of 1 MiB of the aged store per second", by_step(group, results, [SCAN], "ops")),
    ]


def reserves(groups, results):
    def costs(engine):
        parts = {f"{g.budget} %": by_metric(g, results, LAST, engine, PARTS) for g in groups}
        # Without what the background took there is no breakdown.
        return {label: part for label, part in parts.items() if len(part) > 1}

    title = "Figure 7c: what an update takes, µs, by what is reserved"
    return [
        *updates_and_bytes("Experiment 2", "% reserved", groups, results),
        Bars("breakdown", title, costs(HASHKV)),
        Bars("breakdown-vlog", f"{title}: vLog", costs(VLOG)),
    ]


def pair_sizes(groups, results):
    points = by_pair(groups, results, LAST, "ops")
    return [("ops", f"Experiment 4: {UPDATES}", "bytes per pair", points)]


def scans(title):
    def draw(groups, results):
        return [("scans", f"{title} per second", "bytes per pair", by_pair(groups, results, SCAN, "ops"))]

    return draw


def mix_of(group):
    """Of small and large values: "16x1,1000x2" as "1:2 of 1000 B"."""
    (_, few), (large, many) = (part.split("x") for part in group.value_sizes.split(","))
    return f"{few}:{many} of {large} B"


def selective(groups, results):
    return [
        Bars("ops", f"Experiment 7: {UPDATES}, small to large", by_group(groups, results, LAST, "ops", mix_of)),
        Bars("written", f"Experiment 7: {WRITTEN}", by_group(groups, results, LAST, "write_amp_tables", mix_of)),
    ]


def thresholds(groups, results):
    return updates_and_bytes("Experiment 8", "least bytes apart", groups, results, linear=True)


def thresholds_under_ycsb(groups, results):
    """Figure 16: a curve per mix."""

    def curves(metric):
        points = {step: series(groups, results, step, metric, lambda g: g.budget, [HASHKV]) for step in AGED}
        return {step: curve[HASHKV] for step, curve in points.items() if curve}

    return [
        ("ops", "Figure 16a: operations per second", "least bytes apart", curves("ops"), True),
        ("p95", "Figure 16b: p95 latency, µs", "least bytes apart", curves("p95_us"), True),
    ]


def trees(groups, results):
    group, scanned = groups[0], groups[1:]
    points = by_pair(scanned, results, SCAN, "ops") if scanned else {}
    ycsb = by_step(group, results, AGED, "ops")
    return [
        Bars("ops", f"Experiment 13: {UPDATES}", by_step(group, results, PHASES, "ops")),
        Bars("ycsb", "Figure 17: YCSB of what updates left, operations per second", ycsb),
        ("scans", "Figure 18: scans of 1 MiB per second", "bytes per pair", points),
    ]


def distribution(groups, results):
    """The engine reports only the fullest and the emptiest group, so that there is no curve of all (figure 19a)."""
    group = groups[0]
    shown = {"fullest over emptiest group, %": "group_spread", "values take of what they may, %": "value_utilization"}
    steps = [step.label for step in group.steps]
    columns = {step: by_metric(group, results, step, HASHKV, shown) for step in steps}
    return [Bars("groups", "Figure 19: values over the segment groups", columns)]


def segments(groups, results):
    plots = []
    for part, what in (("group", "MB per group"), ("write-cache", "MB of memtable")):
        mine = [g for g in groups if g.name.startswith(f"hashkv-15-{part}-")]
        plots += updates_and_bytes("Figure 20 (hash-kv: 30 % reserved)", what, mine, results, prefix=f"{part}-")
    return plots


DRAWN = {
    "hashkv": main,
    "hashkv-2": reserves,
    "hashkv-3.4": phases("Experiment 6"),
    "hashkv-4": pair_sizes,
    "hashkv-5": scans("Experiment 5: scans of 1 MiB"),
    "hashkv-5-aged": scans("Figure 10b: scans of 1 MiB after updates and a manual compaction"),
    "hashkv-7": selective,
    "hashkv-8": thresholds,
    "hashkv-9": phases("Figure 14"),
    "hashkv-10": phases("Experiment 10"),
    "hashkv-12": thresholds_under_ycsb,
    "hashkv-13": trees,
    "hashkv-14": distribution,
    "hashkv-15": segments,
}


def plots(suite, groups, results):
    """As paper.plots."""
    return DRAWN[suite](groups, results)
