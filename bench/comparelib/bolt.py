# SPDX-License-Identifier: Apache-2.0
"""The experiments of the BoLT paper, as suites: the preset bolt-sorted (sorted tables of 1 MB, many to a
file) against LevelDB and RocksDB, all through the page cache where LevelDB is a rival, since it knows nothing else.
Keys of 23 bytes, four clients (4.1)."""

from .plan import Group, Step, Target

BOLT, ROCKSDB, LEVELDB = "compassdb-bolt", "rocksdb", "leveldb"
LEVELDB_64 = "leveldb-64"  # the paper's LVL64MB
ROCKSDB_WHOLE = "rocksdb-whole"  # indexes and filters are not in partitions
KEY, VALUE, CLIENTS = 23, 1000, 4
GROUP_MB = (2, 4, 8, 16, 32, 64, 128)
TABLE_MB = (2, 4, 8, 16, 32, 64)
INDEX_BYTES = 4  # per record, of about 5.3 that RocksDB's indexes and filters have: a quarter is missing (2.6)
MOST_OPEN_TABLES = "max_open_files=32000"


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


def in_proportion(megabytes, size):
    """Sizes for memtables of 64 MB, or less in proportion to smaller memtables, at least 1; each once."""
    return sorted({mb if size.long else max(1, mb * size.memtable // 64) for mb in megabytes})


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


def one_load(size, engine, **fields):
    """A load of the large data by one engine."""
    return Group(
        records=size.large,
        value_size=VALUE,
        key_size=KEY,
        engines=[engine],
        steps=[Step("load", "load")],
        memtable_mb=size.memtable,
        threads=CLIENTS,
        refill=True,
        **fields,
    )


def group_size(size):
    """Figure 11: syncs and throughput of a load, by the bytes of victims that a compaction takes."""
    return [
        one_load(
            size,
            BOLT,
            name=f"bolt-11-{budget}",
            title=f"Figure 11: loading, group of {budget} MB",
            extra={BOLT: options(group_bytes(budget))},
            budget=budget,
        )
        for budget in in_proportion(GROUP_MB, size)
    ]


def table_size(size):
    """Figure 4: syncs and latency of a load of LevelDB, by the size of its tables."""
    return [
        one_load(
            size,
            LEVELDB,
            name=f"bolt-4-{megabytes}",
            title=f"Figure 4: loading LevelDB, tables of {megabytes} MB",
            flags=["--table-mb", str(megabytes)],
            budget=megabytes,
        )
        for megabytes in in_proportion(TABLE_MB, size)
    ]


def small_index_cache(records):
    return ["--direct", "--index-in-cache", "--data-cache-kb", str(max(64, records * INDEX_BYTES >> 10))]


def table_cache(size):
    """Figure 6: reads of RocksDB with small and large tables, whose indexes do not all fit their cache."""
    return [
        Group(
            name=f"bolt-6-{megabytes}",
            title=f"Figure 6: reads of RocksDB, tables of {megabytes} MB",
            records=size.large,
            value_size=VALUE,
            key_size=KEY,
            engines=[ROCKSDB_WHOLE],
            steps=[Step("load", "load"), Step("readrandom", "readrandom")],
            memtable_mb=size.memtable,
            flags=[*small_index_cache(size.large), "--table-mb", str(megabytes)],
            extra={ROCKSDB_WHOLE: options(MOST_OPEN_TABLES)},
            threads=CLIENTS,
            budget=megabytes,
        )
        for megabytes in in_proportion((2, 64), size)
    ]


def mixes(size, name, title, records, engines, value=VALUE, extra=None, goals=()):
    """YCSB in the paper's order: LA, A, B, C, F, D; then a new database, LE, E (4.1)."""

    def group(suffix, steps):
        return Group(
            name=name + suffix,
            title=f"{title}, records of {KEY} + {value} B, 4 clients" + (": a new database" if suffix else ""),
            records=records,
            value_size=value,
            key_size=KEY,
            engines=list(engines),
            steps=steps,
            memtable_mb=size.memtable,
            extra=extra or {BOLT: options(group_bytes(budget_of(size)))},
            threads=CLIENTS,
            one_by_one=True,
        )

    first = [Step(f"YCSB {w.upper()}", w, per_second=500_000, repeats=1) for w in "abcfd"]
    return [
        group("", [Step("load", "load", targets=list(goals)), *first]),
        group("-e", [Step("load E", "load"), Step("YCSB E", "e", per_second=20_000, repeats=1)]),
    ]


def ablation(size):
    """Figure 12: the effect of each of BoLT's elements."""
    extra = steps_of_figure_12(budget_of(size))
    return mixes(size, "bolt-12", "Figure 12: +LS, +GC, +STL, +FC", size.large, [LEVELDB, *extra], extra=extra)


def ycsb(size):
    """Figures 13 and 14b: the mixes, and the latency of their reads. LevelDB also with large tables."""
    extra = {
        BOLT: options(group_bytes(budget_of(size))),
        LEVELDB_64: ["--table-mb", str(in_proportion([64], size)[0])],
    }
    goals = [of_bolt("ops", ">=", 1.17, LEVELDB_64), of_bolt("write_amp_tables", "<=", 0.84, LEVELDB_64)]
    engines = [BOLT, "compassdb", ROCKSDB, LEVELDB, LEVELDB_64]
    return mixes(size, "bolt-13", "Figures 13 and 14: YCSB", size.large, engines, extra=extra, goals=goals)


def larger(size):
    """Figures 15a, 15b and 16: twice the data, against RocksDB."""
    return mixes(size, "bolt-16", "Figures 15 and 16: YCSB of twice the data", 2 * size.large, [BOLT, ROCKSDB])


def small_records(size):
    """Figure 15c: records of 100 bytes."""
    engines = [BOLT, ROCKSDB, LEVELDB]
    return mixes(size, "bolt-15c", "Figure 15c: YCSB of small records", size.small, engines, value=100 - KEY)


def small_table_cache(size):
    """4.3.3: index and filters do not fit the memory that they have (4 B per record)."""
    records = size.large
    return [
        Group(
            name="bolt-433",
            title="4.3.3: index and filters in a block cache of 4 B per record, direct reads",
            records=records,
            value_size=VALUE,
            key_size=KEY,
            engines=[BOLT, ROCKSDB],
            steps=[Step("load", "load")]
            + [Step(f"YCSB {w.upper()}", w, per_second=200_000) for w in ("b", "c")],
            memtable_mb=size.memtable,
            flags=small_index_cache(records),
            threads=CLIENTS,
        )
    ]


SUITES = {
    "bolt": load,
    "bolt-4": table_size,
    "bolt-6": table_cache,
    "bolt-11": group_size,
    "bolt-12": ablation,
    "bolt-13": ycsb,
    "bolt-15c": small_records,
    "bolt-16": larger,
    "bolt-433": small_table_cache,
}
