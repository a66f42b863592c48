# SPDX-License-Identifier: Apache-2.0
"""The plots of the KallaxDB paper's suites."""

from . import page_model
from .bars import Bars, by_step
from .kallax import OVERFLOWING, WRITTEN
from .paper import median_of, named, series


MOST_PAIRS = 15  # figure 5

# Metric: what its plot says; of figure 7 and tables 6 and 7.
CLIENTS = {
    "ops": "operations per second",
    "avg_us": "average latency, µs",
    "p99_us": "p99 latency, µs",
    "cpu": "CPU per operation, µs",
}
STORED = {"physical_amp": "space, compressed by 4 KiB, per byte of live data", "index_bytes": "index, bytes per key"}


def bars_of(figure, table=None):
    """What clients of all mixes have, and, by a table of the paper, what the load left."""

    def draw(groups, results):
        (group,) = groups
        mixes = [step.label for step in group.steps if step.workload not in ("load", "readrandom")]
        plots = [Bars(m, f"{figure}: {what}", by_step(group, results, mixes, m)) for m, what in CLIENTS.items()]
        if table:
            loaded = [(m, f"{table}: {what}", by_step(group, results, ["load"], m)) for m, what in STORED.items()]
            plots += [Bars(*plot) for plot in loaded]
        return plots

    return draw


def by_size(groups, results, step, metric, kind):
    chosen = [g for g in groups if g.name.split("-")[2] in (kind, "both")]

    def at(group):
        return group.records if kind == "data" else group.value_size

    return named(series(chosen, results, step, metric, at, groups[0].engines))


def sizes(groups, results):
    kinds = (("data", "Figure 8", "pairs of 400 B"), ("value", "Figure 9", "bytes per value, the same volume"))
    out = []
    for kind, figure, x in kinds:
        for w in "AB":
            for metric, what in (("ops", "operations per second"), ("p99_us", "p99 read latency, µs")):
                curves = by_size(groups, results, f"YCSB {w}", metric, kind)
                out.append((f"{kind}-{w.lower()}-{metric}", f"{figure}: YCSB {w}, {what}", x, curves))
    # By operation: the paper runs as many of them with each size, here they are as many as a fifth of the records.
    for metric, what in (("device_bytes_per_op", "bytes written per operation"), ("write_amp", "write amplification")):
        curves = by_size(groups, results, WRITTEN, metric, "value")
        out.append((f"written-{metric}", f"Figure 10: YCSB A, {what}", "bytes per value, the same volume", curves))
    return out


def overflow(groups, results):
    (group,) = groups
    curves = {}
    for step in group.steps[1:]:
        points = [(100 * x, median_of(results, group, step.label, e, "ops")) for x, e in OVERFLOWING.items()]
        points = [(x, y) for x, y in points if y is not None]
        if points:
            curves[step.label] = points
    return [("ops", "Figure 11: operations per second", "% of the pages overflow", curves)]


def seconds_of(results, group, step):
    """Operations in each second of the first run."""
    of_step = (r for r in results if (r["group"], r["step"], r["repeat"]) == (group.name, step, 0))
    return next(of_step, {}).get("operations_by_second", [])


def rehash(groups, results):
    """Before, during and after, one behind the other."""
    out = []
    for w in "ab":
        curves, before = {}, 0
        for group in groups:
            seconds = [n for step in ("before", "during", "after") for n in seconds_of(results, group, step)]
            _, _, threads, batch, workload = group.name.split("-")
            if workload == w and seconds:
                curves[f"threads: {threads}, pages: {batch}"] = list(enumerate(seconds, 1))
                before = len(seconds_of(results, group, "before"))
        x_label = f"seconds; the rehash begins after {before}"
        out.append((w, f"Figure 12: YCSB {w.upper()}, operations per second", x_label, curves, True))
    return out


def percent(points):
    return [(x, 100 * y) for x, y in points]


def by_pairs(result):
    """Figure 5, and equation 6."""
    contents, plan, paper = (result["page_model"][part] for part in ("contents", "plan", "paper"))
    pages = sum(contents["page_fill"])
    stored = [p for p in contents["pages_by_pairs"] if p["pairs"] <= MOST_PAIRS]
    formula = [p for p in paper["pages_by_pairs"] if p["pairs"] <= MOST_PAIRS]
    hashed = {
        "P_pg(m), equation 4": percent((p["pairs"], p["share"]) for p in formula),
        "store": percent((p["pairs"], p["pages"] / pages) for p in stored),
    }
    overflow = {
        "P_ovf(m), equation 1": percent((p["pairs"], p["overflow_probability"]) for p in formula),
        "store": percent((p["pairs"], p["overflowing"] / p["pages"]) for p in stored),
    }
    fills = {"equation 6": plan["page_fill"], "store": page_model.shares(contents["page_fill"])}
    fills = {name: percent(enumerate(parts[:-1], 1)) for name, parts in fills.items()}
    return [
        ("5-pages", "Figure 5: pages with m pairs, %", "m", hashed, True),
        ("5-overflow", "Figure 5: of pages with m pairs those that overflow, %", "m", overflow, True),
        ("fill", "Equation 6: pages by fill, %", "% of the page, at most", fills, True),
    ]


def trade_off(results, suffix, x, label):
    """Figure 6: `x`: the property that differs."""
    overflow = {
        "equation 3": lambda r: r["page_model"]["paper"]["cut_overflow_ratio"],
        "whole pairs": lambda r: r["page_model"]["plan"]["overflow_ratio"],
        "store": page_model.overflow_ratio,
    }
    fill = {
        "equation 7": lambda r: r["page_model"]["paper"]["fill_factor"],
        "store": page_model.fill,
    }
    at = sorted((r["properties"][f"compassdb.{x}"], i) for i, r in enumerate(results))

    def curves(figures):
        points = {name: [(x, f(results[i])) for x, i in at] for name, f in figures.items()}
        return {name: percent(values) for name, values in points.items() if values}

    title = f"Figure {suffix}: bytes that overflow, %"
    return [
        (f"{suffix}-overflow", title, label, curves(overflow), True),
        (f"{suffix}-fill", f"Figure {suffix}: fill of the pages, %", label, curves(fill), True),
    ]


def model(groups, results):
    def of(*kinds):
        return [r for r in results if r["group"].split("-")[2] in kinds]

    by_pages, by_records = of("pages", "both"), of("pairs", "both")
    return [
        *(plot for result in of("all") for plot in by_pairs(result)),
        *trade_off(by_pages, "6a", "tableless-pages", "pages, with the same pairs"),
        *trade_off(by_records, "6b", "tableless-records", "pairs, in the same pages"),
    ]


DRAWN = {
    "kallax": bars_of("Figure 7", "Table 2"),
    "kallax-log-index": bars_of("Section 3.2"),
    "kallax-size": sizes,
    "kallax-overflow": overflow,
    "kallax-rehash": rehash,
    "kallax-scan": bars_of("Table 6"),
    "kallax-keystore": bars_of("Table 7", "Table 5"),
    "kallax-model": model,
}


def plots(suite, groups, results):
    """As paper.plots."""
    return DRAWN[suite](groups, results)
