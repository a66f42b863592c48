# SPDX-License-Identifier: Apache-2.0
"""The experiments of the HashKV paper, as suites: the preset hash-kv against RocksDB, plain and with its
blob files, LevelDB, and vLog, which is the same value store as one log (2.2).

Pairs of 1 KiB with keys of 24 bytes, loaded, then three phases of updates by zipf 0.99, each of
the volume of the data (4.2)."""

from .figures import data_cache
from .plan import Group, Step, Target

HASHKV, PLAIN = "compassdb-hash-kv", "compassdb"
ROCKSDB, BLOB, BLOB_NO_GC = "rocksdb", "rocksdb-blob", "rocksdb-blob-no-gc"
LEVELDB, VLOG = "leveldb", "compassdb-vlog"
KEY, VALUE = 24, 1000
SMALL, LARGEST = 40 - KEY, 8192 - KEY  # values of pairs of 40 B and of 8 KiB
PAIR = KEY + VALUE
ZIPF = ["--distribution", "zipfian"]
LESS_SKEWED = 0.9  # experiments 6 and 9 take this constant, too
PHASES = ("update 1", "update 2", "update 3")
YCSB = "abcdf"
RESERVES = (10, 20, 30, 50, 70, 90)
PAIR_SIZES = (256, 1024, 4096, 16384, 65536)
SMALL_TO_LARGE = ((1, 2), (1, 1), (2, 1))
THRESHOLDS = (1, 64, 128, 192, 256, 512, 1024)
PROPERTIES = ["index-memory-values", "value-bytes", "value-bytes-bound", "value-group-least", "value-group-most"]
# Engines of their own, so that one can be the other's rival: hash-kv with these options of the table factory.
COST_BENEFIT, GREEDY_RANDOM, RANDOM = (f"{HASHKV}-{p}" for p in ("cost-benefit", "greedy-random", "random"))
HOT_COLD = f"{HASHKV}-hot-cold"
POLICIES = {
    HASHKV: {},
    COST_BENEFIT: {"value_gc_policy": "cost-benefit"},
    GREEDY_RANDOM: {"value_gc_policy": "greedy-random", "value_gc_choices": 5},
    RANDOM: {"value_gc_policy": "random"},
}
TREES = {
    HASHKV: {},
    f"{HASHKV}-one-level": {"one_level": "true"},
    f"{HASHKV}-hash-range": {"partition": "kHashRange"},
    f"{HASHKV}-filters": {"point_index": "filter"},
}
SEPARATE_ALL = f"{HASHKV}-all"
RESERVED = {f"{HASHKV}-20": 20, HASHKV: 30, f"{HASHKV}-50": 50}  # 4.7 has 20 and 50
NOT_SYNCED = f"{HASHKV}-not-synced"
VARIANTS = {HASHKV, VLOG, HOT_COLD, SEPARATE_ALL, NOT_SYNCED, *POLICIES, *TREES, *RESERVED}
SPACE = 1.45  # the whole store by the user's data, at every moment
SCAN = "scan of 1 MiB"
SHOWN = ["--properties", ",".join(f"compassdb.{p}" for p in PROPERTIES)]


def options(*parts):
    return ["--options-string", ";".join(p for p in parts if p)]


def pieces(**settings):
    """Options of CompassDB's table factory."""
    return "table_factory={" + ";".join(f"{k}={v}" for k, v in settings.items()) + "}"


def blob_files(size, collect):
    """RocksDB's way. Collection is tuned to the space that the reserve of 30 % allows, as near as it comes
    (docs/performance/separated-values.md). A file is deleted when none of its values is referenced any more, so that a
    compaction needs as much space again as it moves before any is freed, and with a cutoff of 1.0 it moves all that it
    meets: it moves those of the oldest quarter, forced where a twentieth of the oldest files is garbage, and files are
    small. Only the oldest count, and writers wait for compactions by the number of tables on level 0 alone: fewer of
    them may be there than by default."""
    file_bytes = (size.memtable << 20) // (4 if collect else 1)
    parts = ["enable_blob_files=true", "min_blob_size=192", f"blob_file_size={file_bytes}"]
    if collect:
        parts += [
            "enable_blob_garbage_collection=true",
            "blob_garbage_collection_age_cutoff=0.25",
            "blob_garbage_collection_force_threshold=0.05",
            "blob_compaction_readahead_size=2097152",
            "level0_file_num_compaction_trigger=2",
            "level0_slowdown_writes_trigger=4",
            "level0_stop_writes_trigger=6",
        ]
    return options(*parts)


def groups_of(size):
    """Segment groups in proportion to the memtable, as 64 MiB are to it by default."""
    return {"value_group_bytes": size.memtable << 20}


def hash_kv(size, **settings):
    return options(pieces(**groups_of(size), **settings))


ALIKE = {"value_hot_cold": "false"}  # hot and cold values together, as 4.1 has it where nothing else is said


def vlog(size, **settings):
    """One log, collected from its tail, value_group_bytes at a time (4.1)."""
    return hash_kv(size, value_gc_policy="oldest-first", **ALIKE, **settings)


def updates(targets=None, phases=PHASES, flags=()):
    return [
        Step(phase, "overwrite", [*ZIPF, *flags], share=1, targets=(targets or []) if phase == phases[-1] else [])
        for phase in phases
    ]


def mixes(targets=()):
    """YCSB of the existing data."""
    return [Step(f"YCSB {w.upper()}", w, targets=list(targets), per_second=500_000) for w in YCSB]


def records_of(size):
    """4 GiB with --long."""
    return size.large * 4 // 3 if size.long else size.large


def seek_nexts(pair):
    """Scans of 1 MiB."""
    return ["--seek-nexts", str((1 << 20) // pair)]


def of_hash_kv(metric, sense, limit, against=None):
    return Target(metric, sense, limit, against, engine=HASHKV)


def main(size):
    """4.2, and 4.6's aged store: updates, then YCSB, reads and scans of the result."""
    records = records_of(size)
    goals = [
        of_hash_kv("ops", ">=", 1.5, ROCKSDB),
        of_hash_kv("ops", ">=", 1.5, BLOB),
        of_hash_kv("ops", ">=", 6.3, LEVELDB),
        of_hash_kv("ops", ">=", 3.7, VLOG),
        of_hash_kv("write_amp_tables", "<=", 0.4, ROCKSDB),
        of_hash_kv("write_amp_tables", "<=", 0.5, VLOG),
        of_hash_kv("peak_space_amp", "<=", SPACE),
        Target("peak_space_amp", "<=", SPACE, engine=BLOB, verdicts=("within it", "**beyond it**")),  # the rival's side
    ]
    like_blob = [of_hash_kv("ops", ">=", 1, BLOB)]
    reads = ["--direct", *data_cache(records, VALUE, 0.01)]
    steps = [Step("load", "load")] + updates(goals)
    steps += [
        Step(
            *("readrandom, direct", "readrandom", reads),
            targets=[of_hash_kv("reads", "<=", 2.02)],
            per_second=200_000,
        ),
        Step(
            *(SCAN, "seekrandom", seek_nexts(PAIR)),
            targets=[of_hash_kv("ops", ">=", 0.9, BLOB)],
            per_second=3000,
        ),
    ]
    steps += mixes(like_blob)
    return [
        Group(
            name="hashkv",
            title=f"Pairs of 1 KiB, {records:,} of them, loaded, then updated three times over by zipf 0.99",
            records=records,
            value_size=VALUE,
            key_size=KEY,
            engines=[HASHKV, PLAIN, VLOG, ROCKSDB, BLOB, BLOB_NO_GC, LEVELDB],
            steps=steps,
            memtable_mb=size.memtable,
            extra={
                HASHKV: hash_kv(size),
                VLOG: vlog(size),
                BLOB: blob_files(size, True),
                BLOB_NO_GC: blob_files(size, False),
            },
            threads=2,
            refill=True,
            one_by_one=True,  # the databases of 4 GiB together are more than most memories
            by_kind=True,
        )
    ]


def sweep(size, name, title, values, steps, **changes):
    """A group per value; `changes` are fields of the group, or functions of the value that give them."""
    groups = []
    for value in values:
        fields = {
            "records": records_of(size),
            "value_size": VALUE,
            "key_size": KEY,
            "engines": [HASHKV],
            "memtable_mb": size.memtable,
            "threads": 2,
            "refill": True,
            "budget": value if isinstance(value, int) else None,
        }
        fields.update({k: v(value) if callable(v) else v for k, v in changes.items()})
        groups.append(
            Group(name=f"{name}-{value}".rstrip("-"), title=title.format(value), steps=steps, **fields)
        )
    return groups


def reserves(size):
    """Experiment 2: the space reserved for updates, and an update's cost in background (figure 7c)."""
    steps = [Step("load", "load")] + updates()
    for step in steps:
        step.jobs = True
    return sweep(
        *(size, "hashkv-2", "Experiment 2: {} % reserved", RESERVES, steps),
        engines=[HASHKV, VLOG],
        extra=lambda percent: {
            HASHKV: hash_kv(size, value_reserve_percent=percent),
            VLOG: vlog(size, value_reserve_percent=percent),
        },
    )


SCANNED = [HASHKV, PLAIN, VLOG, ROCKSDB, BLOB, LEVELDB]


def rivals_of(size):
    return {HASHKV: hash_kv(size), VLOG: vlog(size), BLOB: blob_files(size, True)}


def pair_sizes(size):
    """Experiment 4: pairs of 256 B to 64 KiB, the same volume of them."""
    return sweep(
        *(size, "hashkv-4", "Experiment 4: pairs of {} B", PAIR_SIZES, [Step("load", "load")] + updates()),
        engines=[HASHKV, VLOG, ROCKSDB, BLOB, LEVELDB],
        records=lambda pair: records_of(size) * PAIR // pair,
        value_size=lambda pair: pair - KEY,
        extra=rivals_of(size),
    )


def scans_by_pair(size, name, title, engines, extra, phases=(), flags=()):
    """Scans of 1 MiB by the size of the pairs, of loaded data or after these phases of updates."""
    groups = []
    for pair in PAIR_SIZES:
        scan = Step(SCAN, "seekrandom", [*seek_nexts(pair), *ZIPF, *flags], per_second=3000)
        groups += sweep(
            *(size, name, title, [pair]),
            [Step("load", "load"), *updates(phases=phases), scan],
            engines=engines,
            records=records_of(size) * PAIR // pair,
            value_size=pair - KEY,
            extra=extra,
            refill=False,
            one_by_one=True,
        )
    return groups


def scans(size):
    """Experiment 5."""
    title = "Experiment 5: scans of 1 MiB, pairs of {} B"
    return scans_by_pair(size, "hashkv-5", title, SCANNED, rivals_of(size))


def scans_after_updates(size):
    """Experiment 5, figure 10b: after updates, and a manual compaction."""
    title = "Experiment 5: scans of 1 MiB after updates and a manual compaction, pairs of {} B"
    return scans_by_pair(
        *(size, "hashkv-5-aged", title, SCANNED, rivals_of(size)), phases=PHASES, flags=["--compact"]
    )


def selective(size):
    """Experiment 7: small pairs in the tree, large ones separated, or all of them separated; 20 % reserved."""
    groups = []
    for large in (1024 - KEY, 4096 - KEY):
        for few, many in SMALL_TO_LARGE:
            sizes = f"{SMALL}x{few},{large}x{many}"
            mean = (SMALL * few + large * many) // (few + many)
            better = [Target("ops", ">=", 1, SEPARATE_ALL, engine=HASHKV)]
            groups += sweep(
                *(size, f"hashkv-7-{sizes}", "Experiment 7: values of {} B", [sizes]),
                [Step("load", "load")] + updates(better),
                engines=[HASHKV, SEPARATE_ALL],
                records=records_of(size) * PAIR // (mean + KEY),
                value_size=mean,
                value_sizes=sizes,
                extra={
                    HASHKV: hash_kv(size, value_reserve_percent=20),
                    SEPARATE_ALL: options(
                        "min_blob_size=1", pieces(**groups_of(size), value_reserve_percent=20)
                    ),
                },
            )
    return groups


def thresholds(size):
    """Experiment 8: which values are separated; pairs of 40 B to 8 KiB, their sizes by zipf 0.99."""
    mean = 880
    return sweep(
        *(size, "hashkv-8", "Experiment 8: values of {} B or more apart", THRESHOLDS),
        [Step("load", "load")] + updates(),
        records=records_of(size) * PAIR // (mean + KEY),
        value_size=mean,
        value_sizes=f"zipfian:{SMALL}:{LARGEST}",
        extra=lambda least: {HASHKV: options(f"min_blob_size={least}", pieces(**groups_of(size)))},
    )


def thresholds_under_ycsb(size):
    """Experiment 12: as 8, YCSB after updates."""
    groups = thresholds(size)
    for group in groups:
        group.name = group.name.replace("hashkv-8", "hashkv-12")
        group.title = group.title.replace("Experiment 8", "Experiment 12")
        group.steps = group.steps + mixes()
    return groups


def distribution(size):
    """Experiment 14: how evenly pairs are spread over the groups, and the used space."""
    load = Step("load", "load", SHOWN, targets=[of_hash_kv("group_spread", "<=", 2.5)])
    phases = updates()
    for step in phases:
        step.flags = step.flags + SHOWN
    reads = Step(
        *("readrandom", "readrandom", SHOWN),
        targets=[of_hash_kv("value_tables", "<=", 5)],
        per_second=500_000,
    )
    return sweep(
        *(size, "hashkv-14", "Experiment 14: distribution of pairs over groups{}", [""]),
        [load, *phases, reads],
        extra={HASHKV: hash_kv(size)},
    )


def by_skew(size, name, title, goals, **changes):
    """Zipf 0.99, and the same by 0.9."""
    groups = []
    for skew in ("", LESS_SKEWED):
        flags = ["--zipf-constant", str(skew)] if skew else []
        steps = [Step("load", "load")] + updates(goals, flags=flags)
        said = f", zipf {skew}" if skew else ""
        groups += sweep(size, f"{name}-{skew}".rstrip("-"), title + said + "{}", [""], steps, **changes)
    return groups


def policies(size):
    """Experiment 9, figure 14: which group is collected."""
    better = [
        Target("write_amp_tables", "<=", 1, rival, engine=mine)
        for mine in (HASHKV, COST_BENEFIT)
        for rival in (GREEDY_RANDOM, RANDOM)
    ]
    return by_skew(
        *(size, "hashkv-9", "Experiment 9: which group is collected", better),
        engines=list(POLICIES),
        extra={engine: hash_kv(size, **settings, **ALIKE) for engine, settings in POLICIES.items()},
    )


def crash_safety(size):
    """Experiment 10: what syncs cost. The rest of crash safety is part of what tables need, and cannot be left out."""
    return sweep(
        *(size, "hashkv-10", "Experiment 10: with syncs, and with none at all{}", [""]),
        [Step("load", "load")] + updates(),
        engines=[HASHKV, NOT_SYNCED],
        extra={HASHKV: hash_kv(size), NOT_SYNCED: [*hash_kv(size), "--skip-syncs"]},
    )


def hotness(size):
    """3.4 and experiment 6: cold values separated, 20 % reserved."""
    goal = [Target("write_amp_tables", "<=", 0.7, HASHKV, engine=HOT_COLD)]
    return by_skew(
        *(size, "hashkv-3.4", "3.4: cold values apart, 20 % reserved", goal),
        engines=[HOT_COLD, HASHKV],
        extra={
            HASHKV: hash_kv(size, value_reserve_percent=20, **ALIKE),
            HOT_COLD: hash_kv(size, value_reserve_percent=20),
        },
    )


def trees(size):
    """Experiment 13: separated values over other trees; YCSB (figure 17) after updates, and scans (figure 18)."""
    extra = {engine: hash_kv(size, **settings) for engine, settings in TREES.items()}
    groups = sweep(
        *(size, "hashkv-13", "Experiment 13: the tree under the values{}", [""]),
        [Step("load", "load")] + updates() + mixes(),
        engines=list(TREES),
        extra=extra,
        one_by_one=True,
    )
    title = "Experiment 13: scans of 1 MiB, pairs of {} B"
    return groups + scans_by_pair(size, "hashkv-13-scan", title, list(TREES), extra)


def parts_of(memtable, parts):
    """This number of 64ths of it, in MB, as the paper's sizes for its write cache of 64 MiB. At least 1."""
    return sorted({max(1, memtable * n // 64) for n in parts})


def segments(size):
    """Experiment 15: the size of the groups, and of the write cache, which is the memtable. Levels stay as they are for
    --memtable-mb. There are no log segments here, whose size the paper sweeps, too."""
    steps = [Step("load", "load")] + updates()

    def engines_with(group_mb, *also):
        return {
            engine: options(*also, pieces(value_group_bytes=group_mb << 20, value_reserve_percent=percent))
            for engine, percent in RESERVED.items()
        }

    groups = sweep(
        *(size, "hashkv-15-group", "Experiment 15: groups of {} MB"),
        *(parts_of(size.memtable, (16, 32, 64, 128, 256)), steps),
        engines=list(RESERVED),
        extra=engines_with,
    )
    return groups + sweep(
        *(size, "hashkv-15-write-cache", "Experiment 15: write cache of {} MB"),
        *(parts_of(size.memtable, (4, 8, 16, 32, 64)), steps),
        engines=list(RESERVED),
        extra=lambda mb: engines_with(size.memtable, f"write_buffer_size={mb << 20}"),
    )


SUITES = {
    "hashkv": main,
    "hashkv-2": reserves,
    "hashkv-3.4": hotness,
    "hashkv-4": pair_sizes,
    "hashkv-5": scans,
    "hashkv-5-aged": scans_after_updates,
    "hashkv-7": selective,
    "hashkv-8": thresholds,
    "hashkv-9": policies,
    "hashkv-10": crash_safety,
    "hashkv-12": thresholds_under_ycsb,
    "hashkv-13": trees,
    "hashkv-14": distribution,
    "hashkv-15": segments,
}
