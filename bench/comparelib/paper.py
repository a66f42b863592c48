# SPDX-License-Identifier: Apache-2.0
"""The experiments of the CompassDB paper's evaluation, as suites: the default layout, the paper's own
and RocksDB. Shapes are to be compared, not sizes: --long takes more records."""

import statistics

from .figures import data_cache
from .plan import COMPACTION_READS, NAMES, Group, Step, Target, metric_of

ENGINES = ["compassdb", "compassdb-paper", "rocksdb", "rocksdb-defaults"]
PRESETS = ["compassdb", "compassdb-paper", "compassdb-read-mostly", "compassdb-update-heavy", "rocksdb", "rocksdb-defaults"]


def ycsb(size):
    """Figure 10a and table 2: 16 threads, 1 KB values, O_DIRECT, 32 MB of cache for 200 M keys."""
    records = size.large
    steps = [Step("load", "load")]
    for w in "abcdef":
        steps.append(Step(f"YCSB {w.upper()}", w, per_second=20_000 if w == "e" else 200_000))
    return [
        Group(
            name="paper-10a",
            title="Figure 10a, table 2: YCSB with 16 threads, 1 KB values",
            records=records,
            value_size=1000,
            engines=ENGINES,
            steps=steps,
            by_kind=True,
            memtable_mb=size.memtable,
            flags=["--direct", *data_cache(records, 1000, 0.01)],
            threads=16,
            refill=True,
        )
    ]


def value_sizes(size):
    """Figure 10b: workload C, values of 50 B to 50 KB; the bytes of data stay the same."""
    groups = []
    for value in (50, 200, 1000, 5000, 20_000, 50_000):
        records = max(1000, size.small * 148 // (20 + value))
        groups.append(
            Group(
                name=f"paper-10b-{value}",
                title=f"Figure 10b: YCSB C, {value} B values",
                records=records,
                value_size=value,
                engines=ENGINES,
                steps=[Step("load", "load"), Step("YCSB C", "c")],
                memtable_mb=size.memtable,
                flags=["--direct", *data_cache(records, value, 0.01)],
                threads=16,
                refill=True,
            )
        )
    return groups


def amplification(size):
    """Figure 11, and the space: as the data grows, 20 B keys and 128 B values, one thread."""
    groups = []
    for millions in (1, 2, 5, 10, 20, 50):
        records = size.small * millions // (10 if size.long else 5)
        groups.append(
            Group(
                name=f"paper-11-{records}",
                title=f"Figure 11: {records:,} records filled in random order, then all read",
                records=records,
                value_size=128,
                engines=PRESETS,
                steps=[Step("fillrandom", "fillrandom"), Step("readrandom", "readrandom", per_second=20_000)],
                memtable_mb=size.memtable,
                flags=["--direct", *data_cache(records, 128, 0.01)],
                refill=True,
            )
        )
    return groups


def mixed(size):
    """Figure 12: fillrandom, readrandom, readwhilewriting; 128 B values."""
    records = size.small
    return [
        Group(
            name="paper-12",
            title="Figure 12: 20 B keys and 128 B values, 16 threads",
            records=records,
            value_size=128,
            engines=ENGINES,
            steps=[
                Step("fillrandom", "fillrandom"),
                Step("readrandom", "readrandom", per_second=200_000),
                Step("readwhilewriting", "readwhilewriting", per_second=100_000),
            ],
            memtable_mb=size.memtable,
            flags=["--direct", *data_cache(records, 128, 0.01)],
            threads=16,
            refill=True,
        )
    ]


def hash_range(size):
    """The ablation of 3.4: levels cut by the hash of the key against levels cut by the key."""
    goals = [
        Target("table_bytes_read", "<=", 0.43, "compassdb", "compassdb-hash-range"),
        Target("compaction_seconds", "<=", 0.51, "compassdb", "compassdb-hash-range"),
        Target("seconds", "<=", 0.45, "compassdb", "compassdb-hash-range"),
    ]
    return [
        Group(
            name="paper-3.4",
            title="3.4: hash range against key range, 1 KB values, filled in random order, then overwritten",
            records=size.large,
            value_size=1000,
            engines=["compassdb", "compassdb-hash-range", "rocksdb"],
            steps=[
                Step("fillrandom", "fillrandom", targets=goals),
                Step("overwrite", "overwrite", share=1, targets=goals),
            ],
            flags=["--properties", ",".join(f"compassdb.compaction-read-{kind}" for kind in COMPACTION_READS)],
            memtable_mb=size.memtable,
            threads=2,
            refill=True,
        )
    ]


SUITES = {
    "paper-3.4": hash_range,
    "paper-10a": ycsb,
    "paper-10b": value_sizes,
    "paper-11": amplification,
    "paper-12": mixed,
}


def median_of(results, group, step, engine, metric):
    values = [
        metric_of(r, metric)
        for r in results
        if (r["group"], r["step"], r["engine"]) == (group.name, step, engine)
    ]
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def series(groups, results, step, metric, at, engines=PRESETS):
    """{engine: [(x, y)]} over the groups of a suite."""
    out = {}
    for engine in engines:
        points = [(at(g), median_of(results, g, step, engine, metric)) for g in groups]
        points = [(x, y) for x, y in points if y is not None]
        if points:
            out[engine] = points
    return out


def plots(suite, groups, results):
    """[(file suffix, title, label of x, {name: points})] of the suites that have a curve."""

    def records(group):
        return group.records

    if suite == "paper-11":
        wanted = [
            ("write", "Write amplification", "fillrandom", "write_amp_tables"),
            ("read", "Read amplification", "readrandom", "read_amp"),
            ("space", "Space amplification", "fillrandom", "space_amp"),
        ]
        return [
            (name, title, "records", named(series(groups, results, step, metric, records)))
            for name, title, step, metric in wanted
        ]
    if suite == "paper-10b":
        points = series(groups, results, "YCSB C", "ops", lambda g: g.value_size)
        return [("values", "YCSB C, operations per second", "bytes per value", named(points))]
    return []


def named(points):
    return {NAMES[engine]: p for engine, p in points.items()}
