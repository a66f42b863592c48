# SPDX-License-Identifier: Apache-2.0
"""The parts of a measured suite: groups of steps on one database per
engine, and the figures that a step has to reach."""

import statistics
from dataclasses import dataclass, field

from . import page_model, summary


@dataclass
class Target:
    """A figure: an engine's metric, as it is or over the same of a rival."""

    metric: str
    sense: str  # ">=" or "<="
    limit: float
    against: str = None  # the rival; None: the metric itself
    engine: str = "compassdb"
    unit: str = ""
    base: str = None  # the rival's figure is that of this step of the group; None: of the same
    verdicts: tuple = ("reached", "**not reached**")  # other words where it is a rival's limit, not a goal

    def text(self):
        sense = {">=": "≥", "<=": "≤"}[self.sense]
        rival = f"× {NAMES[self.against]}" if self.against else self.unit
        return f"{sense} {self.limit:.3g}{rival}" + (f", {self.base}" if self.base else "")

    def reached(self, value):
        return value >= self.limit if self.sense == ">=" else value <= self.limit


@dataclass
class Either:
    """Reached when one of the targets is: ">= min(a, b)"."""

    targets: list


@dataclass
class Step:
    label: str
    workload: str
    flags: list = field(default_factory=list)
    threads: int = None  # None: those of the group
    per_second: int = 100_000  # more operations than this no engine does in a second
    targets: list = field(default_factory=list)
    engines: list = None  # None: all of the group
    repeats: int = None
    share: float = None  # of the records, instead of an amount of time
    physical: bool = False  # what the database takes on a compressing drive is measured after it
    jobs: bool = False  # what flushes and collections took is read from the database's LOG after it
    pages: bool = False  # what its pages hold is read after it (page_model)
    rate_of: tuple = None  # (label, share): steady, at that share of the faster engine's rate there

    @property
    def fills(self):
        return self.workload in ("load", "fillrandom", "fillseq")


@dataclass
class Group:
    name: str
    title: str
    records: int
    value_size: int
    engines: list
    steps: list
    memtable_mb: int
    flags: list = field(default_factory=list)
    threads: int = 1
    key_size: int = 20
    # True: all steps again for each repeat; False: one fill, each later step repeated.
    refill: bool = False
    # True: all steps of one engine, then those of the next, each time in the other order: the page cache has the
    # files of one engine at a time. False: by turns at every step.
    one_by_one: bool = False
    seconds: float = None  # of a timed step; None: as the command line says
    extra: dict = field(default_factory=dict)  # engine -> flags of its own
    value_sizes: str = None  # as kvbench takes them, where they differ; value_size is their mean then
    budget: int = None  # what a plot's x is, where it is not in the name of another field
    by_kind: bool = False  # the report also has the latency of each kind of operation


NAMES = {
    "compassdb": "CompassDB",
    "compassdb-paper": "CompassDB, the paper's system",
    "compassdb-read-mostly": "CompassDB, one level",
    "compassdb-update-heavy": "CompassDB, single tier",
    "compassdb-hash-range": "CompassDB, hash range",
    "compassdb-hash-kv": "CompassDB, hash-kv",
    "compassdb-hash-kv-hot-cold": "hash-kv, cold values apart",
    "compassdb-hash-kv-cost-benefit": "hash-kv, cost-benefit",
    "compassdb-hash-kv-greedy-random": "hash-kv, greedy-random",
    "compassdb-hash-kv-random": "hash-kv, random",
    "compassdb-hash-kv-all": "hash-kv, all values apart",
    "compassdb-vlog": "vLog, by CompassDB",
    "compassdb-hash-kv-not-synced": "hash-kv, nothing synced",
    "compassdb-hash-kv-20": "hash-kv, 20 % reserved",
    "compassdb-hash-kv-50": "hash-kv, 50 % reserved",
    "compassdb-hash-kv-one-level": "hash-kv, one level",
    "compassdb-hash-kv-hash-range": "hash-kv, hash range",
    "compassdb-hash-kv-filters": "hash-kv, sorted tables with filters",
    "compassdb-bolt": "CompassDB, bolt-sorted",
    "compassdb-bolt-ls": "+LS",
    "compassdb-bolt-gc": "+GC",
    "compassdb-bolt-stl": "+STL",
    "rocksdb": "RocksDB tuned",
    "rocksdb-whole": "RocksDB, whole filters",
    "rocksdb-defaults": "RocksDB defaults",
    "rocksdb-blob": "RocksDB, blob files",
    "rocksdb-blob-no-gc": "RocksDB, blob files without collection",
    "rocksdb-paper": "RocksDB defaults, 10-bit filters",
    "compassdb-tableless": "CompassDB, table-less",
    "compassdb-tableless-no-keys": "table-less, no key store",
    "compassdb-tableless-no-journal": "table-less, no page journal",
    "compassdb-tableless-in-memtables": "table-less, values in memtables",
    "compassdb-tableless-overflow-1": "table-less, 1.37 % overflow",
    "compassdb-tableless-overflow-4": "table-less, 4.2 % overflow",
    "compassdb-tableless-overflow-10": "table-less, 10 % overflow",
    "compassdb-tableless-overflow-18": "table-less, 18 % overflow",
    "lmdb": "LMDB",
    "wiredtiger": "WiredTiger",
    "leveldb": "LevelDB",
    "leveldb-64": "LevelDB, tables of 64 MB",
    "device": "device",
}


def ratio(result, above, below):
    a, b = result.get(above), result.get(below)
    return a / b if a is not None and b else None


def per_gigabyte(result, name):
    """Of what the clients wrote."""
    written = result.get("user_bytes_written")
    return result[name] * 1e9 / written if written and result.get(name) is not None else None


def cpu_of(result):
    parts = [result.get(f"{kind}_cpu_us_per_op") for kind in ("user", "system")]
    return None if None in parts else sum(parts)


def overflow_ratio(result):
    """Of the pairs, in percent."""
    records = result.get("properties", {}).get("compassdb.tableless-overflow-records")
    return None if records is None or not result.get("live_keys") else 100 * records / result["live_keys"]


def unjournaled_pages(result):
    """Written in place without a journal, per operation; None where all have one."""
    pages = result.get("properties", {}).get("compassdb.tableless-unjournaled-pages")
    return pages / result["operations"] if pages else None


def page_writes(result):
    """Pages written in place per pair that clients wrote."""
    pages = result.get("properties", {}).get("compassdb.tableless-pages-in-place")
    written = result.get("user_bytes_written")
    return pages * (result["key_size"] + result["value_size"]) / written if pages and written else None


def value_tables(result):
    """Memory of the tables with the places of separated values, in bytes per record."""
    memory = result.get("properties", {}).get("compassdb.index-memory-values")
    return None if memory is None or not result.get("live_keys") else memory / result["live_keys"]


def group_spread(result):
    """By how many percent the fullest segment group has more values than the emptiest."""
    properties = result.get("properties", {})
    least, most = (properties.get(f"compassdb.value-group-{which}") for which in ("least", "most"))
    return 100 * (most / least - 1) if least and most is not None else None


def value_utilization(result):
    """Live bytes of the value store in percent of the space that it may take."""
    properties = result.get("properties", {})
    total, bound = (properties.get(f"compassdb.value-bytes{which}") for which in ("", "-bound"))
    return 100 * total / bound if bound and total is not None else None


COMPACTION_READS = ("hash-lists", "pieces", "whole-tables")


def compaction_read(kind):
    """What compactions read of one of COMPACTION_READS, in bytes per byte of the user's."""

    def value(result):
        read = result.get("properties", {}).get(f"compassdb.compaction-read-{kind}")
        written = result.get("user_bytes_written")
        return read / written if read is not None and written else None

    return value


def per_operation(kind):
    """Microseconds of background jobs of a kind (jobs.KINDS) per operation."""

    def value(result):
        seconds = result.get("job_seconds", {}).get(kind)
        return None if seconds is None or not result["operations"] else seconds * 1e6 / result["operations"]

    return value


# name -> value of one result; None: has no meaning there
METRICS = {
    "ops": lambda r: r["ops_per_second"],
    "client_ops": lambda r: ratio(r, "operations", "foreground_seconds"),  # until the last of them, no longer
    "seconds": lambda r: r["seconds"],
    "avg_us": lambda r: summary.main_latency(r, "avg"),
    "p50_us": lambda r: summary.main_latency(r, "p50"),
    "p95_us": lambda r: summary.main_latency(r, "p95"),
    "p99_us": lambda r: summary.main_latency(r, "p99"),
    "p999_us": lambda r: summary.main_latency(r, "p999"),
    "fsyncs_per_gb": lambda r: per_gigabyte(r, "fsyncs"),
    "user_cpu": lambda r: r.get("user_cpu_us_per_op"),
    "system_cpu": lambda r: r.get("system_cpu_us_per_op"),
    "cpu": cpu_of,
    "reads": lambda r: ratio(r, "device_reads", "operations"),
    "device_bytes": lambda r: r.get("device_bytes_written"),
    "device_bytes_per_op": lambda r: ratio(r, "device_bytes_written", "operations"),
    "device_bytes_so_far": lambda r: r.get("device_bytes_so_far"),
    "table_bytes": lambda r: r.get("table_bytes_written"),
    "table_bytes_read": lambda r: r.get("table_bytes_read"),
    "compaction_seconds": lambda r: r.get("compaction_seconds"),
    "flush_us": per_operation("flush"),
    "collect_us": per_operation("collect"),
    "merge_us": per_operation("merge"),
    "commit_us": per_operation("commit"),
    "write_amp": lambda r: r.get("write_amplification"),
    "write_amp_with_log": lambda r: ratio(r, "dirtied_bytes", "user_bytes_written"),
    "write_amp_tables": lambda r: ratio(r, "table_bytes_written", "user_bytes_written"),
    "read_amp_tables": lambda r: ratio(r, "table_bytes_read", "user_bytes_written"),
    **{f"read_{kind}": compaction_read(kind) for kind in COMPACTION_READS},
    "read_amp": lambda r: ratio(r, "device_bytes_read", "user_bytes_read"),
    "space_amp": lambda r: r.get("space_amplification"),
    "peak_space_amp": lambda r: ratio(r, "peak_db_bytes", "live_user_bytes"),
    "physical_amp": lambda r: ratio(r, "physical_bytes", "live_user_bytes"),
    "overflow": overflow_ratio,
    "unjournaled_pages": unjournaled_pages,
    "page_writes": page_writes,
    "value_tables": value_tables,
    "group_spread": group_spread,
    "value_utilization": value_utilization,
    "index_bytes": lambda r: r.get("index_bytes_per_key"),
    "delay_ms": lambda r: r.get("longest_delay_ms"),
    "device_stall_ms": lambda r: r.get("device_stall_ms"),
    "open_seconds": lambda r: r.get("open_seconds"),
    **page_model.METRICS,
}


def metric_of(result, metric):
    return METRICS[metric](result)


def figure(target, results, base):
    """Median and range of a target's figure over the repeats of one step, or None; base: the results of
    target.base, or the same. A ratio pairs the runs of one repeat; where the rival ran less often, its
    median is used."""
    mine = {r["repeat"]: metric_of(r, target.metric) for r in results if r["engine"] == target.engine}
    mine = {k: v for k, v in mine.items() if v is not None}
    if not mine:
        return None
    values = list(mine.values())
    if target.against:
        rival = {
            r["repeat"]: metric_of(r, target.metric) for r in base if r["engine"] == target.against
        }
        rival = {k: v for k, v in rival.items() if v}
        if not rival:
            return None
        usual = statistics.median(rival.values())
        values = [v / rival.get(repeat, usual) for repeat, v in mine.items()]
    return statistics.median(values), min(values), max(values)
