# SPDX-License-Identifier: Apache-2.0
"""The experiments of the KallaxDB paper, as suites: the preset tableless against RocksDB (tuned, and as the
paper has it), LevelDB and WiredTiger. Keys of 16 bytes, values that compress by half, 16 clients, direct reads
and a data cache of 1 % of the data (LevelDB knows the page cache alone)."""

import math

from . import page_model
from .figures import data_cache
from .hashkv import ZIPF, options, pieces
from .plan import Group, Step, Target

KALLAX, NO_KEYS, NO_JOURNAL, IN_MEMTABLES = (
    f"compassdb-tableless{variant}" for variant in ("", "-no-keys", "-no-journal", "-in-memtables")
)
TUNED, PAPER, LEVELDB, WIREDTIGER = "rocksdb", "rocksdb-paper", "leveldb", "wiredtiger"
ROCKSDBS = (TUNED, PAPER)
RIVALS = [*ROCKSDBS, LEVELDB, WIREDTIGER]
KEY, VALUE, CLIENTS = 16, 400, 16
MIXES = "abcdf"
# Table 3: the shares of pages that overflow as the same pages have to hold more and more pairs.
RATES = (0.0137, 0.042, 0.1, 0.18)
OVERFLOWING = {rate: f"compassdb-tableless-overflow-{round(100 * rate)}" for rate in RATES}
VARIANTS = {KALLAX, NO_KEYS, NO_JOURNAL, IN_MEMTABLES, *OVERFLOWING.values()}
# Table 4: threads and pages per batch, a smaller machine's, with what the paper's larger ones left of the
# throughput while they ran, and what the latency was by that without them.
REHASHES = {
    (1, 4): {"a": (155 / 186, 183 / 144), "b": (116 / 130, 137 / 114)},
    (2, 4): {"a": (127 / 186, 215 / 144), "b": (97 / 130, 154 / 114)},
    (2, 16): {"a": (107 / 186, 250 / 144), "b": (84 / 130, 187 / 114)},
}
AFTER = 0.95
# Table 5: bytes per key of the index, with the key store and without it.
INDEX, INDEX_WITHOUT_KEYS = 1.4, 1.2
# Table 6, by RocksDB's.
SCANS = (
    (">=", 3.6 / 18.8, "ops"),
    ("<=", 3.7 / 0.84, "avg_us"),
    ("<=", 6.8 / 1.8, "p99_us"),
    ("<=", 3293 / 942, "cpu"),
)
# Table 7: what the key store leaves of the throughput ("almost the same", and 8 % less where all is updates),
# and what it adds to the CPU time of reads and of writes.
SAME, UPDATED, CPU_OF_READS, CPU_OF_WRITES = 0.98, 0.92, 1.05, 1.17
WRITTEN = "YCSB A, a fifth of the records"  # figure 10
WRITTEN_AT_100 = 35  # bytes per byte, of values of 100 B (4.3)
IN_LOG = {"memtable_as_log_index": "true"}  # values that wait are in the log (3.2)
PAGE_WRITES, GOAL_A, GOAL_F = 0.3, 1.5, 1.1  # with them
PROPERTIES = ("pages", "overflow-records", "index-bytes", "unjournaled-pages", "pages-in-place")

# What a page and a record add to the pairs (a record's sequence number and sizes: about).
PAGE, PAGE_HEADER, RECORD_HEADER = 4096, 16, 7
OVERFLOWS = {100: 0.040, 400: 0.0137, 800: 0.017}  # 4.2 and 4.3: the share of pages that overflow
BEFORE_REHASH = 0.04


def overflow_probability(per_page, value):
    """Of a page, with this number of pairs of one size per page on average (3.3.1)."""
    fit = (PAGE - PAGE_HEADER) // (KEY + value + RECORD_HEADER)
    return 1 - sum(math.exp(m * math.log(per_page) - per_page - math.lgamma(m + 1)) for m in range(fit + 1))


def pairs_per_page(value, overflow):
    """On average, so that about that share of the pages overflows."""
    low, high = 0.01, PAGE / value
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if overflow_probability(middle, value) < overflow else (low, middle)
    return low


def pages_for(records, value, overflow=None):
    return math.ceil(records / pairs_per_page(value, overflow or OVERFLOWS[value]))


def records_of(size, quick=500_000):
    return size.records(5_000_000, quick)


def tableless(**settings):
    return pieces(**{f"tableless_{k}": v for k, v in settings.items()})


def group_of(size, name, title, engines, steps, records=None, value=VALUE, memtable=None, **fields):
    records = records or records_of(size)
    fields = {"extra": {KALLAX: options(tableless(pages=pages_for(records, value)))}, **fields}
    properties = ",".join(f"compassdb.tableless-{p}" for p in PROPERTIES)
    return Group(
        name=name,
        title=title,
        records=records,
        value_size=value,
        key_size=KEY,
        engines=engines,
        steps=steps,
        memtable_mb=memtable or size.memtable,
        flags=["--direct", *data_cache(records, value, 0.01), "--compressible", "50", "--properties", properties],
        threads=CLIENTS,
        **fields,
    )


def ycsb(workload, **fields):
    return Step(f"YCSB {workload.upper()}", workload, per_second=500_000, **fields)


def goals(sense, limit, *metrics, rivals=ROCKSDBS, engine=KALLAX, base=None):
    return [Target(m, sense, limit, rival, engine=engine, base=base) for m in metrics for rival in rivals]


def index_within(limit, engine=KALLAX):
    return Target("index_bytes", "<=", limit, engine=engine, unit=" B per key")


def writing(workload, limit, more=(), **fields):
    """A or F, without the page journal, too, and what the journal costs. Four operations per record: what
    waits in the log at the end is flushed within the step, and is to be a small part of it."""
    cost = Target("ops", ">=", 1, KALLAX, engine=NO_JOURNAL, verdicts=("no slower", "slower"))
    rate = goals(">=", limit, "ops") + goals(">=", limit, "ops", engine=NO_JOURNAL)
    few = Target("page_writes", "<=", PAGE_WRITES, engine=KALLAX, unit=" per update")
    return ycsb(workload, share=4, targets=[*rate, cost, few, *more], **fields)


def baseline(size):
    """Figure 7 and table 2. Pages go without a journal in A and F, and in D, whose inserts F finds."""
    journaled = [KALLAX, *RIVALS]
    space = goals("<=", 1.15, "physical_amp")
    index = goals("<=", 0.5, "index_bytes") + [index_within(INDEX)]
    reads = [Target("reads", "<=", 1.02, engine=KALLAX, unit=" reads per Get hit")]
    reading = goals("<=", 1, "avg_us", "p99_us", "cpu")
    steps = [
        Step("load", "load", targets=index + space, physical=True),
        Step(
            # A cache that holds next to nothing, so that reads are those of the layout.
            *("readrandom", "readrandom", ["--data-cache-kb", "64"]),
            per_second=500_000,
            targets=reads,
            engines=journaled,
            repeats=1,
        ),
        writing("a", GOAL_A),
        ycsb("b", targets=reading, engines=journaled),
        ycsb("c", targets=reading, engines=journaled),
        ycsb("d", targets=reading),
        writing("f", GOAL_F, space, physical=True),
    ]
    pages = pages_for(records_of(size), VALUE)
    return [
        group_of(
            *(size, "kallax", "Figure 7, table 2: 16 B keys, 400 B values, 16 clients"),
            *([KALLAX, NO_JOURNAL, *RIVALS], steps),
            memtable=2 * size.memtable,  # 2.4 million addresses take 120 MB
            extra={
                KALLAX: options(pieces(tableless_pages=pages, **IN_LOG)),
                NO_JOURNAL: options(pieces(tableless_pages=pages, tableless_atomic_page_writes="true", **IN_LOG)),
            },
        )
    ]


def size_steps(value):
    written = [Target("write_amp", "<=", WRITTEN_AT_100, engine=KALLAX)] if value == 100 else []
    return [
        Step("load", "load", physical=True),
        ycsb("a"),
        ycsb("b"),
        Step(WRITTEN, "a", share=0.2, targets=written),
    ]


def sizes(size):
    """Figures 8, 9 and 10: sizes of the data, and of the values at the same volume."""
    base = records_of(size)
    shapes = [("data", base // 4, VALUE), ("both", base, VALUE), ("data", base * 5 // 2, VALUE)]
    shapes += [("value", base * VALUE // value, value) for value in (100, 800)]
    return [
        group_of(
            *(size, f"kallax-size-{kind}-{records}-{value}", f"{records:,} pairs, {value} B values"),
            *([KALLAX, *RIVALS], size_steps(value)),
            records=records,
            value=value,
        )
        for kind, records, value in shapes
    ]


def overflow(size):
    """Table 3 and figure 11: more and more pairs into the same pages."""
    base = records_of(size, 300_000)
    pages = pages_for(base, VALUE, RATES[0])
    records = {rate: round(pages * pairs_per_page(VALUE, rate)) for rate in RATES}
    first, *worse = OVERFLOWING.values()
    within = [Target("ops", ">=", 0.9, first, engine=e) for e in worse]
    steps = [Step("load", "load", physical=True)]
    steps += [ycsb(w, targets=within) for w in MIXES]
    rates = ", ".join(f"{100 * rate:g}" for rate in RATES)
    return [
        group_of(
            *(size, "kallax-overflow", f"Table 3, figure 11: {rates} % of the pages overflow"),
            *(list(OVERFLOWING.values()), steps),
            records=base,
            extra={
                engine: [*options(tableless(pages=pages)), "--records", str(records[rate])]
                for rate, engine in OVERFLOWING.items()
            },
        )
    ]


def by_before(throughput, latency):
    own = {"rivals": [KALLAX], "base": "before"}
    return goals(">=", throughput, "client_ops", **own) + goals("<=", latency, "avg_us", **own)


def rehash(size):
    """Table 4 and figure 12: twice the pages, while the clients continue."""
    records = records_of(size, 300_000)
    pages = pages_for(records, VALUE, BEFORE_REHASH)
    groups = []
    for (threads, batch), left in REHASHES.items():
        for w, limits in left.items():
            own = {"rehash_threads": threads, "rehash_batch": batch}
            old, new = (options(tableless(pages=n, **own)) for n in (pages, 2 * pages))
            growing = ["--set-options", tableless(pages=2 * pages)]
            growing += ["--while-property", "compassdb.tableless-rehashing", "--seconds", "600"]
            growing += ["--operations", "100000000"]
            groups.append(
                group_of(
                    *(size, f"kallax-rehash-{threads}-{batch}-{w}"),
                    f"Table 4, figure 12: rehash by {threads} threads, {batch} pages at a time, YCSB {w.upper()}",
                    [KALLAX],
                    [
                        Step("load", "load", old),
                        Step("before", w, old, per_second=500_000),
                        Step("during", w, old + growing, targets=by_before(*limits)),
                        Step("after", w, new, targets=by_before(AFTER, 1 / AFTER), per_second=500_000),
                    ],
                    records=records,
                    extra={},
                    refill=True,
                )
            )
    return groups


def scan(size):
    """Table 6: scans of 50 pairs on average."""
    targets = [target for limit in SCANS for target in goals(*limit)]
    steps = [Step("load", "load"), Step("YCSB E", "e", targets=targets, per_second=100_000)]
    return [group_of(size, "kallax-scan", "Table 6: YCSB E, 400 B values, 16 clients", [KALLAX, *RIVALS], steps)]


def key_store(size):
    """Tables 5 and 7: the cost of the key store, which scans need."""

    def limits(workload):
        cpu = CPU_OF_WRITES if workload in ("a", "f", "overwrite") else CPU_OF_READS
        ops = UPDATED if workload == "overwrite" else SAME
        return goals(">=", ops, "ops", rivals=[NO_KEYS]) + goals("<=", cpu, "cpu", rivals=[NO_KEYS])

    space = goals("<=", 222 / 218, "physical_amp", rivals=[NO_KEYS])
    index = [index_within(INDEX), index_within(INDEX_WITHOUT_KEYS, NO_KEYS)]
    steps = [Step("load", "load", targets=index + space, physical=True)]
    steps += [ycsb(w, targets=limits(w)) for w in MIXES]
    steps.append(Step("update only", "overwrite", ZIPF, targets=limits("overwrite"), per_second=500_000))
    pages = pages_for(records_of(size), VALUE)
    return [
        group_of(
            *(size, "kallax-keystore", "Tables 5 and 7: with the key store and without it", [KALLAX, NO_KEYS], steps),
            extra={
                KALLAX: options(tableless(pages=pages, key_store="true")),
                NO_KEYS: options(tableless(pages=pages, key_store="false")),
            },
        )
    ]


# Figures 5 and 6: pairs per page, the points of 6a and 6b, and by how many percent the store may be
# off the formulas.
PAIRS_PER_PAGE = 5
PAGES_BY = (0.6, 0.75, 1, 1.5, 2)
PAIRS_BY = (0.25, 0.5, 1, 1.25, 1.5)
OFF, FILL_OFF = 8, 1


def model(size):
    """Figures 5 and 6: stores with pairs of N(400, 25) bytes, next to the formulas."""
    records = size.records(20_000_000, 5_000_000)
    value = page_model.PAIR - page_model.RECORD_HEADER - KEY
    limits = {"overflowing_off": OFF, "overflow_bytes_off": OFF, "fill_distance": FILL_OFF}
    targets = [Target(m, "<=", limit, engine=NO_KEYS, unit=" %") for m, limit in limits.items()]
    properties = ",".join(f"compassdb.{p}" for p in page_model.PROPERTIES)

    def filled(name, title, pairs, pages, **fields):
        return Group(
            name=name,
            title=title,
            records=pairs,
            value_size=value,
            value_sizes=page_model.normal_sizes(value, page_model.SIGMA),
            key_size=KEY,
            engines=[NO_KEYS],
            steps=[Step("load", "load", pages=True, **fields)],
            memtable_mb=min(512, max(8, pairs * page_model.PAIR >> 22)),  # four flushes, or more
            flags=["--disable-wal", "--properties", properties],
            threads=2,
            extra={NO_KEYS: options(tableless(pages=pages, key_store="false"))},
        )

    few = records // 8
    pages = few // PAIRS_PER_PAGE
    shapes = {(few, round(pages * share)): "pages" for share in PAGES_BY}
    shapes |= {(round(few * share), pages): "pairs" for share in PAIRS_BY}
    shapes[(few, pages)] = "both"
    groups = [
        filled(
            "kallax-model-all",
            f"Figure 5, equation 6: {records:,} pairs, {PAIRS_PER_PAGE} per page",
            records,
            records // PAIRS_PER_PAGE,
            targets=targets,
        )
    ]
    return groups + [
        filled(f"kallax-model-{kind}-{k}-{n}", f"Figure 6: {k:,} pairs in {n:,} pages", k, n)
        for (k, n), kind in sorted(shapes.items())
    ]


def log_index(size):
    """3.2: values that wait are in the log, so that each page write takes more of them."""
    pages = pages_for(records_of(size), VALUE)
    few = [Target("page_writes", "<=", PAGE_WRITES, engine=KALLAX, unit=" per update")]
    steps = [Step("load", "load"), Step("update only", "overwrite", ZIPF, share=4, targets=few)]

    def flags(**more):
        return options(pieces(tableless_pages=pages, **more))

    return [
        group_of(
            *(size, "kallax-log-index", "Section 3.2: values that wait are in the log"),
            *([KALLAX, IN_MEMTABLES, TUNED], steps),
            memtable=2 * size.memtable,
            one_by_one=True,
            extra={KALLAX: flags(**IN_LOG), IN_MEMTABLES: flags()},
        )
    ]


SUITES = {
    "kallax": baseline,
    "kallax-log-index": log_index,
    "kallax-size": sizes,
    "kallax-overflow": overflow,
    "kallax-rehash": rehash,
    "kallax-scan": scan,
    "kallax-keystore": key_store,
    "kallax-model": model,
}
