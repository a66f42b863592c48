# SPDX-License-Identifier: Apache-2.0
"""The figures that the engine has to reach: one suite per scenario. Sizes are quick ones for a
small machine, or with --long those at which the figures are claimed."""

from .plan import Either, Group, Step, Target

TUNED, DEFAULTS, LMDB, DEVICE = "rocksdb", "rocksdb-defaults", "lmdb", "device"


class Size:
    """Records per value size; memtables in proportion, so that the tree keeps its shape."""

    def __init__(self, args):
        self.long = args.long
        self.given = args.records
        self.small = self.records(10_000_000, 1_000_000)
        self.large = self.records(3_000_000, 300_000)
        self.memtable = args.memtable_mb or (64 if args.long else 8)

    def records(self, long, quick):
        return self.given or (long if self.long else quick)

    def of(self, value_size):
        return self.small if value_size <= 128 else self.large


def at_least(limit, against, metric="ops"):
    return Target(metric, ">=", limit, against)


def at_most(limit, against=None, metric="ops", unit=""):
    return Target(metric, "<=", limit, against, unit=unit)


def data_cache(records, value_size, share):
    """--data-cache-kb for a share of the data."""
    return ["--data-cache-kb", str(max(64, int(records * (20 + value_size) * share) >> 10))]


def direct(size):
    read = [Either([at_least(1.2, TUNED), at_least(0.95, DEVICE)]), at_least(2.5, DEFAULTS)]
    read.append(at_most(0.5, TUNED, "user_cpu"))
    groups = []
    for value in (128, 1000):
        records = size.of(value)
        mixes = [("A", "a", 1.5), ("F", "f", 1.5), ("B", "b", 1.2), ("D", "d", 1.2)]
        steps = [
            Step("load", "load"),
            Step("readrandom", "readrandom", targets=read, per_second=500_000),
            Step("YCSB C", "c", targets=read, per_second=500_000),
            Step(
                *("readrandom, 1 thread", "readrandom"),
                threads=1,
                targets=[at_most(1.05, DEVICE, "avg_us")],
            ),
            Step("readmissing", "readmissing", targets=[at_least(3, TUNED)], per_second=3_000_000),
            Step(
                *("readmissing, 1 thread", "readmissing"),
                threads=1,
                targets=[at_least(3, TUNED)],
                per_second=3_000_000,
            ),
        ]
        steps += [
            Step(f"YCSB {name}", w, targets=[at_least(times, TUNED), at_least(2.5, DEFAULTS)])
            for name, w, times in mixes
        ]
        for step in steps:
            if step.workload in ("readrandom", "c"):
                step.engines = ["compassdb", TUNED, DEFAULTS, DEVICE]
                if step.threads == 1:
                    step.engines = ["compassdb", TUNED, DEVICE]
            elif step.workload == "readmissing":
                step.engines = ["compassdb", TUNED]
        groups.append(
            Group(
                name=f"direct-{value}",
                title=f"Direct reads, index in memory, data cache 1 % of the data, {value} B values",
                records=records,
                value_size=value,
                engines=["compassdb", TUNED, DEFAULTS, DEVICE],
                steps=steps,
                memtable_mb=size.memtable,
                flags=["--direct", *data_cache(records, value, 0.01)],
                threads=16,
            )
        )
    return groups


def small_memory(size):
    records = size.large
    goal = [at_least(2.5, TUNED)]
    # Either way of holding RocksDB's index in a small cache is a rival; the first is the better.
    return [
        Group(
            name="small-memory",
            title="Direct reads, block cache of 4 B per key that also holds index and filters, 1 KB values",
            records=records,
            value_size=1000,
            engines=["compassdb", TUNED, "rocksdb-whole"],
            steps=[Step("load", "load")]
            + [
                Step(f"YCSB {w.upper()}", w, targets=goal + [at_least(2.5, "rocksdb-whole")])
                for w in "abcdf"
            ],
            memtable_mb=size.memtable,
            flags=[
                *("--direct", "--index-in-cache"),
                *("--data-cache-kb", str(max(64, records * 4 >> 10))),
            ],
            threads=16,
        )
    ]


def cached(size):
    both = ["compassdb", TUNED]
    hits = [at_least(3, TUNED), at_least(1.2, LMDB)]
    steps = [
        Step("load", "load"),
        Step("readrandom", "readrandom", targets=hits, per_second=5_000_000),
        Step(
            *("readmissing", "readmissing"),
            targets=[at_least(3, TUNED)],
            per_second=10_000_000,
            engines=both,
        ),
    ]
    steps += [
        Step(
            *(f"YCSB {w.upper()}, 2 threads", w),
            threads=2,
            targets=[at_least(2, TUNED)],
            per_second=1_500_000,
            engines=both,
        )
        for w in "abcdf"
    ]
    return [
        Group(
            name="cached",
            title="Everything cached, 128 B values",
            records=size.small,
            value_size=128,
            engines=["compassdb", TUNED, LMDB],
            steps=steps,
            memtable_mb=size.memtable,
            flags=["--cache-mb", str(max(64, size.small * 148 * 4 >> 20)), "--warm-up"],
        )
    ]


def scans(size):
    goal = [at_least(1, TUNED)]
    groups = []
    for value in (128, 1000):
        records = size.of(value)
        on_disk = ["--direct", *data_cache(records, value, 0.01)]
        in_cache = ["--cache-mb", str(max(64, records * (value + 20) * 4 >> 20)), "--warm-up"]
        seeks = ["--seek-nexts", "50"]
        groups.append(
            Group(
                name=f"scans-{value}",
                title=f"Scans after overwriting half of the records at random, {value} B values, 2 threads",
                records=records,
                value_size=value,
                engines=["compassdb", TUNED],
                steps=[
                    Step("load", "load"),
                    Step("overwrite", "overwrite", share=0.5),
                    Step("E, direct", "e", on_disk, targets=goal, per_second=30_000),
                    Step("seekrandom, direct", "seekrandom", on_disk + seeks, targets=goal),
                    Step("E, cached", "e", in_cache, targets=goal, per_second=100_000),
                    Step("seekrandom, cached", "seekrandom", in_cache + seeks, targets=goal),
                ],
                memtable_mb=size.memtable,
                threads=2,
            )
        )
    return groups


def writes(size):
    records = size.small
    bytes_goal = 0.5 if records >= 50_000_000 else 0.8
    space = at_most(1.7, metric="space_amp")

    def goals(limit, metric="device_bytes"):
        return [at_least(1, TUNED), at_most(limit, TUNED, metric), space]

    return [
        Group(
            name="writes-load",
            title="Loading and overwriting, 128 B values",
            records=records,
            value_size=128,
            engines=["compassdb", TUNED],
            steps=[Step("load", "load", targets=goals(bytes_goal))]
            + [
                Step(
                    *(f"overwrite {i}", "overwrite"),
                    share=1,
                    targets=goals(0.4, "device_bytes_so_far") if i == 3 else goals(bytes_goal),
                )
                for i in (1, 2, 3)
            ],
            memtable_mb=size.memtable,
            flags=["--direct"],
            threads=2,
            refill=True,
        ),
        Group(
            name="writes-fillrandom",
            title="Filling in random order, 128 B values",
            records=records,
            value_size=128,
            engines=["compassdb", TUNED],
            steps=[Step("fillrandom", "fillrandom", targets=goals(bytes_goal))],
            memtable_mb=size.memtable,
            flags=["--direct"],
            threads=2,
            refill=True,
        ),
    ]


def stalls(size):
    return [
        Group(
            name="stalls",
            title="Steady load at 70 % of the faster engine's sustained rate, 128 B values",
            records=size.small,
            value_size=128,
            engines=["compassdb", TUNED],
            steps=[
                Step("load", "load"),
                Step("overwrite, unlimited", "overwrite", share=1),
                Step(
                    *("overwrite, steady", "overwrite"),
                    rate_of=("overwrite, unlimited", 0.7),
                    targets=[at_most(100, metric="delay_ms", unit=" ms")],
                    repeats=1,
                ),
            ],
            memtable_mb=size.memtable,
            flags=["--direct"],
            threads=2,
            seconds=600 if size.long else 30,
        )
    ]


def index(size):
    groups = []
    for value in (128, 1000):
        # A cache that holds next to nothing, so that reads are those of the layout.
        flags = ["--direct", "--data-cache-kb", "64"]
        memory = [at_most(3.0, metric="index_bytes", unit=" B per key")]
        opening = [at_most(1, metric="open_seconds", unit=" s")]
        groups.append(
            Group(
                name=f"index-{value}",
                title=f"The index: memory, reads per Get, opening; default layout, {value} B values",
                records=size.of(value),
                value_size=value,
                engines=["compassdb", TUNED],
                steps=[
                    Step("load", "load", targets=memory),
                    Step("overwrite", "overwrite", share=1, targets=memory),
                    Step(
                        *("readrandom", "readrandom"),
                        targets=[at_most(1.02, metric="reads", unit=" reads per Get")] + opening,
                        repeats=1,
                    ),
                    Step(
                        *("readmissing", "readmissing"),
                        targets=[at_most(0.01, metric="reads", unit=" reads per Get")],
                        per_second=3_000_000,
                        repeats=1,
                    ),
                ],
                memtable_mb=size.memtable,
                flags=flags,
                threads=2,
            )
        )
    return groups


SUITES = {
    "direct": direct,
    "small-memory": small_memory,
    "cached": cached,
    "scans": scans,
    "writes": writes,
    "stalls": stalls,
    "index": index,
}
