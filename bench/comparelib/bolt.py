# SPDX-License-Identifier: Apache-2.0
"""The experiments of the BoLT paper, as suites: the preset bolt-sorted (sorted tables of 1 MB, many to a
file) against LevelDB and RocksDB, all through the page cache, since LevelDB knows nothing else. Keys of 23
bytes, four clients (4.1)."""

from .plan import Group, Step, Target

BOLT, ROCKSDB, LEVELDB = "compassdb-bolt", "rocksdb", "leveldb"
KEY, VALUE, CLIENTS = 23, 1000, 4
GROUP_MB = (2, 4, 8, 16, 32, 64, 128)


def options(*parts):
    return ["--options-string", ";".join(parts)]


def group_bytes(megabytes):
    return f"table_factory={{group_compaction_bytes={megabytes << 20}}}"


# Figure 12's steps. Without +STL tables go down in the order of their age, as LevelDB's do; without
# +FC hardly a descriptor stays open; without +GC one table moves down at a time.
NO_SETTLING, NO_DESCRIPTORS = "compaction_pri=kOldestSmallestSeqFirst", "max_open_files=20"


def steps_of_figure_12(budget):
    return {
        "compassdb-bolt-ls": options(NO_SETTLING, NO_DESCRIPTORS, group_bytes(0)),
        "compassdb-bolt-gc": options(NO_SETTLING, NO_DESCRIPTORS, group_bytes(budget)),
        "compassdb-bolt-stl": options(NO_DESCRIPTORS, group_bytes(budget)),
        BOLT: options(group_bytes(budget)),
    }


def budget_of(size):
    """The preset's 64 MB, or less in proportion to smaller memtables."""
    return min(64, size.memtable)


def of_bolt(metric, sense, limit, against):
    return Target(metric, sense, limit, against, engine=BOLT)


def load(size):
    """The figures to reach: syncs, throughput and latency of inserting, from 50,000 records up."""
    goals = [
        of_bolt("fsyncs_per_gb", "<=", 0.1, LEVELDB),
        of_bolt("fsyncs_per_gb", "<=", 0.5, ROCKSDB),
        of_bolt("ops", ">=", 3, LEVELDB),
        of_bolt("ops", ">=", 1, ROCKSDB),
        of_bolt("p999_us", "<=", 1, ROCKSDB),
    ]
    largest = size.large * 4 // 3 if size.long else size.large  # 4 GB
    groups = []
    for records in sorted({50_000, largest // 8, largest}):
        groups.append(
            Group(
                name=f"bolt-load-{records}",
                title=f"Loading {records:,} records of 1 KB",
                records=records,
                value_size=VALUE,
                key_size=KEY,
                engines=[BOLT, "compassdb", ROCKSDB, LEVELDB],
                steps=[Step("load", "load", targets=goals if records == largest else [])],
                memtable_mb=size.memtable,
                extra={BOLT: options(group_bytes(budget_of(size)))},
                threads=CLIENTS,
                refill=True,
            )
        )
    return groups


def group_size(size):
    """Figure 11: syncs and throughput of a load, by the bytes of victims that a compaction takes."""
    groups = []
    for megabytes in GROUP_MB:
        budget = megabytes if size.long else max(1, megabytes * size.memtable // 64)
        if any(g.budget == budget for g in groups):
            continue
        groups.append(
            Group(
                name=f"bolt-11-{budget}",
                title=f"Figure 11: loading, group of {budget} MB",
                records=size.large,
                value_size=VALUE,
                key_size=KEY,
                engines=[BOLT],
                steps=[Step("load", "load")],
                memtable_mb=size.memtable,
                extra={BOLT: options(group_bytes(budget))},
                threads=CLIENTS,
                refill=True,
                budget=budget,
            )
        )
    return groups


def ablation(size):
    """Figure 12: the effect of each of BoLT's elements."""
    extra = steps_of_figure_12(budget_of(size))
    timed = [("A", "a"), ("B", "b"), ("C", "c")]
    return [
        Group(
            name="bolt-12",
            title="Figure 12: +LS, +GC, +STL, +FC; 1 KB values, 4 clients",
            records=size.large,
            value_size=VALUE,
            key_size=KEY,
            engines=[LEVELDB, *extra],
            steps=[Step("load", "load")]
            + [Step(f"YCSB {name}", w, per_second=500_000, repeats=1) for name, w in timed],
            memtable_mb=size.memtable,
            extra=extra,
            threads=CLIENTS,
        )
    ]


def mixes(size, name, title, records, engines):
    """YCSB of what was loaded (table 1 of the paper; it reloads for D and E; here these use the same database)."""
    rates = {"e": 20_000}
    steps = [Step(f"YCSB {w.upper()}", w, per_second=rates.get(w, 500_000), repeats=1) for w in "abcfde"]
    return [
        Group(
            name=name,
            title=f"{title}, 1 KB values, 4 clients",
            records=records,
            value_size=VALUE,
            key_size=KEY,
            engines=engines,
            steps=[Step("load", "load"), *steps],
            memtable_mb=size.memtable,
            extra={BOLT: options(group_bytes(budget_of(size)))},
            threads=CLIENTS,
            one_by_one=True,
        )
    ]


def ycsb(size):
    """Figures 13 and 14b: the mixes, and the latency of their reads."""
    return mixes(size, "bolt-13", "Figures 13 and 14: YCSB", size.large, [BOLT, "compassdb", ROCKSDB, LEVELDB])


def larger(size):
    """Figures 15a, 15b and 16: twice the data, against RocksDB."""
    return mixes(size, "bolt-16", "Figures 15 and 16: YCSB of twice the data", 2 * size.large, [BOLT, ROCKSDB])


def small_records(size):
    """Figure 15c: records of 100 bytes."""
    return [
        Group(
            name="bolt-15c",
            title="Figure 15c: loading records of 100 B",
            records=size.small,
            value_size=100 - KEY,
            key_size=KEY,
            engines=[BOLT, ROCKSDB, LEVELDB],
            steps=[Step("load", "load")],
            memtable_mb=size.memtable,
            extra={BOLT: options(group_bytes(budget_of(size)))},
            threads=CLIENTS,
            refill=True,
        )
    ]


def small_table_cache(size):
    """4.3.3: index and filters do not fit the memory that they have (4 B per record)."""
    records = size.large
    return [
        Group(
            name="bolt-433",
            title="4.3.3: index and filters in a block cache of 4 B per record",
            records=records,
            value_size=VALUE,
            key_size=KEY,
            engines=[BOLT, ROCKSDB],
            steps=[Step("load", "load")]
            + [Step(f"YCSB {w.upper()}", w, per_second=200_000) for w in ("b", "c")],
            memtable_mb=size.memtable,
            flags=["--index-in-cache", "--data-cache-kb", str(max(64, records * 4 >> 10))],
            threads=CLIENTS,
        )
    ]


SUITES = {
    "bolt": load,
    "bolt-11": group_size,
    "bolt-12": ablation,
    "bolt-13": ycsb,
    "bolt-15c": small_records,
    "bolt-16": larger,
    "bolt-433": small_table_cache,
}
