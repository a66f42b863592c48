# SPDX-License-Identifier: Apache-2.0
"""The output of a measured suite: each figure with its target, and its results."""

import statistics

from . import plan, tables

COLUMNS = [
    ("operations/s", "ops", "{:,.0f}"),
    ("avg µs", "avg_us", "{:.2f}"),
    ("p95 µs", "p95_us", "{:.1f}"),
    ("p99 µs", "p99_us", "{:.1f}"),
    ("p99.9 µs", "p999_us", "{:.1f}"),
    ("syncs/GB", "fsyncs_per_gb", "{:,.1f}"),
    ("user CPU µs/op", "user_cpu", "{:.2f}"),
    ("system CPU µs/op", "system_cpu", "{:.2f}"),
    ("CPU µs/op", "cpu", "{:.2f}"),
    ("reads/op", "reads", "{:.3f}"),
    ("write amp.", "write_amp", "{:.2f}"),
    ("with the log", "write_amp_with_log", "{:.2f}"),
    ("tables alone", "write_amp_tables", "{:.2f}"),
    ("compactions read", "read_amp_tables", "{:.2f}"),
    ("hash lists", "read_hash-lists", "{:.2f}"),
    ("collected pieces", "read_pieces", "{:.2f}"),
    ("tables that are cut", "read_whole-tables", "{:.2f}"),
    ("compaction s", "compaction_seconds", "{:.1f}"),
    ("flushing µs/op", "flush_us", "{:.2f}"),
    ("collecting µs/op", "collect_us", "{:.2f}"),
    ("merging µs/op", "merge_us", "{:.2f}"),
    ("committing µs/op", "commit_us", "{:.2f}"),
    ("space amp.", "space_amp", "{:.2f}"),
    ("at its peak", "peak_space_amp", "{:.2f}"),
    ("compressed", "physical_amp", "{:.3f}"),
    ("overflow %", "overflow", "{:.2f}"),
    ("pages that overflow %", "overflowing", "{:.2f}"),
    ("planned", "overflowing_planned", "{:.2f}"),
    ("bytes that overflow %", "overflow_bytes", "{:.3f}"),
    ("planned", "overflow_bytes_planned", "{:.3f}"),
    ("fill %", "fill", "{:.2f}"),
    ("planned", "fill_planned", "{:.2f}"),
    ("pages without journal/op", "unjournaled_pages", "{:.2f}"),
    ("page writes/update", "page_writes", "{:.2f}"),
    ("fullest over emptiest group %", "group_spread", "{:.2f}"),
    ("values take of what they may %", "value_utilization", "{:.1f}"),
    ("value tables B/key", "value_tables", "{:.2f}"),
    ("index B/key", "index_bytes", "{:.2f}"),
    ("longest delay ms", "delay_ms", "{:.0f}"),
    ("device stall ms", "device_stall_ms", "{:.0f}"),
]
WORDS = {
    "ops": "operations/s",
    "client_ops": "operations/s while clients run",
    "avg_us": "average latency",
    "p95_us": "p95 latency",
    "p99_us": "p99 latency",
    "p999_us": "p99.9 latency",
    "fsyncs_per_gb": "syncs per GB written",
    "user_cpu": "user CPU per operation",
    "cpu": "CPU per operation",
    "device_bytes": "device bytes written",
    "device_bytes_so_far": "device bytes written so far",
    "write_amp": "write amplification",
    "space_amp": "space amplification",
    "physical_amp": "space, compressed by 4 KiB",
    "peak_space_amp": "space amplification at its peak",
    "delay_ms": "longest stall",
    "index_bytes": "index memory",
    "page_writes": "page writes",
    "reads": "disk reads",
    "open_seconds": "opening",
    "overflowing_off": "pages that overflow, off the formula",
    "overflow_bytes_off": "bytes that overflow, off the formula",
    "fill_distance": "distribution of page fill, off the formula",
    "table_bytes_read": "bytes that compactions read",
    "compaction_seconds": "seconds of flushes and compactions",
    "seconds": "seconds",
    "write_amp_tables": "bytes written to tables per user byte",
}


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def shown(values):
    middle, low, high = values
    return number(middle) + (f" ({number(low)} to {number(high)})" if number(low) != number(high) else "")


def figure_rows(groups, results):
    """[group, step, figure, value, target, verdict] per figure that was measured."""
    rows = []
    for group in groups:
        for step in group.steps:

            def of(label, name=group.name):
                return [r for r in results if r["group"] == name and r["step"] == label]

            of_step = of(step.label)
            for goal in step.targets:
                parts = goal.targets if isinstance(goal, plan.Either) else [goal]
                values = [(t, plan.figure(t, of_step, of(t.base or step.label))) for t in parts]
                values = [(t, v) for t, v in values if v is not None]
                if not values:
                    continue
                met = any(t.reached(v[0]) for t, v in values)
                first = values[0][0]
                whose = f" of {plan.NAMES[first.engine]}" if first.engine != group.engines[0] else ""
                rows.append(
                    [
                        group.name,
                        step.label,
                        WORDS.get(first.metric, first.metric) + whose,
                        " or ".join(shown(v) for _, v in values),
                        " or ".join(t.text() for t, _ in values),
                        first.verdicts[0 if met else 1],
                    ]
                )
    return rows


def detail_rows(group, results):
    body = []
    for step in group.steps:
        for engine in group.engines:
            mine = [
                r
                for r in results
                if (r["group"], r["step"], r["engine"]) == (group.name, step.label, engine)
            ]
            if not mine:
                continue
            row = [step.label, plan.NAMES.get(engine, engine)]
            for _, metric, form in COLUMNS:
                values = [v for v in (plan.metric_of(r, metric) for r in mine) if v is not None]
                if not values:
                    row.append("-")
                    continue
                text = form.format(statistics.median(values))
                if metric == "ops" and len(values) > 1:
                    half = (max(values) - min(values)) / 2 / statistics.median(values)
                    text += f" ±{100 * half:.0f}%"
                row.append(text)
            body.append(row)
    # Columns that say nothing about this group are left out.
    heads = ["step", "engine"] + [name for name, _, _ in COLUMNS]
    keep = [i for i in range(len(heads)) if i < 2 or any(row[i] != "-" for row in body)]
    return [heads[i] for i in keep], [[row[i] for i in keep] for row in body]


KINDS = ("read", "update", "insert", "scan", "rmw")  # of operations, as kvbench names them
LATENCIES = ("avg", "p95", "p99", "p999")


def kind_rows(group, results):
    """The latency of each kind of operation of each step: medians."""
    body = []
    for step in group.steps:
        for engine in group.engines:
            mine = [
                r["latency_us"]
                for r in results
                if (r["group"], r["step"], r["engine"]) == (group.name, step.label, engine)
            ]
            for kind in KINDS:
                values = [latency[kind] for latency in mine if kind in latency]
                if values:
                    row = [f"{statistics.median(v[name] for v in values):,.1f}" for name in LATENCIES]
                    body.append([step.label, plan.NAMES.get(engine, engine), kind, *row])
    return ["step", "engine", "operation", "avg µs", "p95 µs", "p99 µs", "p99.9 µs"], body


def notes(report):
    m = report["machine"]
    lines = list(report["builds"].values())
    lines.append(report["claim"])
    for group in report["groups"]:
        lines.append(
            f"{group['name']}: {group['records']:,} records of {group['key_size']}+{group['value_size']} B, "
            f"{group['threads']} client threads unless the step says otherwise, memtable {group['memtable_mb']} MiB, "
            f"{report['settings']['background_threads']} background threads, `{' '.join(group['flags'])}`"
            + ("; one engine after the other, each alone with the page cache" if group.get("one_by_one") else "")
        )
    lines.append(f"{m['cpu']}, {m['cores']} cores, {m['memory_bytes'] >> 30} GiB, Linux {m['kernel']}")
    lines.append(
        "a ratio is CompassDB's figure over the rival's, run by run, engines by turns: median (least to most); "
        "writing steps run until no compaction is pending; write amplification is of bytes that reached the device"
    )
    return lines


def render(report, groups):
    """(text for the terminal, Markdown)"""
    head = ["group", "step", "figure", "measured", "target", ""]
    results = report["results"]
    rows = figure_rows(groups, results)
    text, marked = [], [f"# {report['suite']}: {report['claim']}", ""]
    if rows:
        text += [tables.text(head, rows).replace("**", ""), ""]
        marked += [tables.markdown(head, rows), ""]
    for group in groups:
        heads, body = detail_rows(group, results)
        if not body:
            continue
        text += [group.title, "", tables.text(heads, body), ""]
        marked += [f"## {group.title}", "", tables.markdown(heads, body), ""]
        if group.by_kind:
            heads, body = kind_rows(group, results)
            text += [tables.text(heads, body), ""]
            marked += ["### Latency by the kind of operation", "", tables.markdown(heads, body), ""]
    lines = notes(report)
    text += [f"  {line}" for line in lines]
    marked += [f"- {line}" for line in lines] + ["", f"Command: `{report['command']}`", ""]
    return "\n".join(text), "\n".join(marked)
