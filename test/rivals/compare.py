#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Power cuts, damage, faults and kills, the same for several engines, from outside: their calls are traced or made
to fail (interpose.cc), their files cut and damaged, and the same program (rival.cc) opens what is left.

  compare.py --bin DIR [--engines compassdb,rocksdb,leveldb] [--cuts N] [--cases N] [--faults N] [--kills N]

Prints a table per test; fails if CompassDB has a finding, or if damage to RocksDB's log has none: then nothing
would be found in CompassDB either. The engines are used as they come: 64 KiB of memtable,
paranoid_checks, every third batch synced, nothing else."""

import argparse
import errno
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter

import disk

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import test_dir

BATCHES = 300
KEYS, SHARED = 211, 5
TIMEOUT = 60
HOWS = ("drop", "keep", "torn", "pages")
ERRORS = (errno.EIO, errno.ENOSPC)


def keys_of(batch):
    return f"key{batch * 7919 % KEYS:05d}", f"shared{batch % SHARED}"


class Engine:
    def __init__(self, name, bin_dir, scratch):
        self.name = name
        self.program = os.path.join(bin_dir, f"rival_{name}")
        self.preload = os.path.join(bin_dir, "librival_interpose.so")
        self.dir = os.path.join(scratch, name)

    def clear(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def call(self, *command, env=None):
        """Lines of output; "died SIGNAL" or "hung" is one more."""
        try:
            done = subprocess.run([self.program, *command], capture_output=True, timeout=TIMEOUT, env=env, check=False)
        except subprocess.TimeoutExpired as e:
            return (e.stdout or b"").decode(errors="replace").splitlines() + ["hung"]
        lines = done.stdout.decode(errors="replace").splitlines()
        return lines + [f"died {done.returncode}"] if done.returncode else lines

    def run(self, batches=BATCHES, **variables):
        env = dict(os.environ, LD_PRELOAD=self.preload, RIVALS_DIR=self.dir)
        env.update({f"RIVALS_{k.upper()}": v for k, v in variables.items()})
        return self.call("run", self.dir, str(batches), env=env)

    def dump(self):
        return Dump(self.call("dump", self.dir))


class Dump:
    """What an engine says of a directory."""

    def __init__(self, lines):
        self.died = next((line for line in lines if line.startswith(("died", "hung"))), None)
        opened = next((line[5:] for line in lines if line.startswith("open ")), "")
        scan = next((line[5:] for line in lines if line.startswith("scan ")), "")
        self.refused = opened != "OK" and self.died is None
        self.message = opened if self.refused else scan
        self.has = {line.split()[1]: int(line.split()[2]) for line in lines if line.startswith("has ")}
        self.wrong = any(line.startswith("wrong") for line in lines)
        gets = [line.split(" ", 2)[2] for line in lines if line.startswith("get ")]
        self.failed = (not self.refused and scan != "OK") or any(not g.startswith(("has", "NotFound")) for g in gets)
        self.wrong |= any(g.startswith("wrong") for g in gets)
        # A Get that finds less or other than the iterator, without an error.
        self.differs = any(g.startswith(("has", "NotFound")) for g in gets)


STATES = [{}]
for number in range(1, 2 * BATCHES + 1):
    STATES.append({**STATES[-1], **dict.fromkeys(keys_of(number), number)})


def judge_prefix(dump, least, most):
    """The state must be that after a number of batches from `least` to `most`."""
    if dump.died:
        return "died or hung"
    if dump.refused:
        return "does not open"
    if dump.failed:
        return "does not read"
    if dump.wrong or dump.differs:
        return "wrong data"
    last = max(dump.has.values(), default=0)
    if last > most or dump.has != STATES[last]:
        return "a hole"
    return "synced writes lost" if last < least else "right"


def digest(files):
    h = hashlib.blake2b(digest_size=16)
    for path in sorted(files):
        h.update(path.encode() + b"\0" + hashlib.blake2b(files[path]).digest())
    return h.digest()


def power_cuts(engine, cuts, journal, rng, scratch):
    engine.clear()
    trace = os.path.join(scratch, "trace")
    engine.run(trace=trace)
    with open(trace, encoding="utf-8", errors="replace") as f:
        lines = f.read().splitlines()
    with open(trace + ".data", "rb") as f:
        data = f.read()
    changes = sum(not line.startswith("note") for line in lines)
    at = disk.Disk(data, journal)
    outcomes, seen, done, index = Counter(), set(), 0, 0
    for line in lines:
        if at.apply(line):
            index += 1
            wanted = cuts * index // changes
            while done < wanted:
                done += 1
                one_cut(engine, at, rng, outcomes, seen)
    return outcomes


def one_cut(engine, at, rng, outcomes, seen):
    files = at.after_cut(HOWS[rng.randrange(len(HOWS))], rng)
    state = digest(files)
    if "CURRENT" not in files and not any(n.startswith("ack") for n in at.notes) or state in seen:
        return  # the database was not made yet, or that was tried
    seen.add(state)
    begun = [int(n.split()[1]) for n in at.notes if n.startswith("begin")]
    synced = [int(n.split()[1]) for n in at.notes if n.startswith("ack") and n.endswith(" 1")]
    engine.clear()
    disk.write_files(files, engine.dir)
    outcomes[judge_prefix(engine.dump(), max(synced, default=0), max(begun, default=0))] += 1


def kind_of(path):
    if path.endswith(".log"):
        return "log"
    return "MANIFEST, CURRENT" if path.startswith(("MANIFEST", "MIRROR", "CURRENT")) else "table"


def judge_damage(dump):
    if dump.died:
        return "died or hung"
    if dump.refused:
        return "refused"
    if dump.wrong:
        return "wrong data"
    if dump.failed:
        return "error"
    last = max(dump.has.values(), default=0)
    if not dump.differs and dump.has == STATES[BATCHES]:
        return "exact"
    return "end lost silently" if not dump.differs and dump.has == STATES[last] else "hole, silently"


def damages(files, cases, rng):
    """Flipped bits and cut ends: an even share for each kind of file."""
    kinds = {}
    for path, data in files.items():
        if data and (path.endswith((".sst", ".ldb", ".ph")) or kind_of(path) != "table"):
            kinds.setdefault(kind_of(path), []).append(path)
    for kind, paths in kinds.items():
        total = sum(len(files[p]) for p in paths)
        for _ in range(cases // len(kinds)):
            at = rng.randrange(total)
            for path in paths:
                if at < len(files[path]):
                    break
                at -= len(files[path])
            damaged = bytearray(files[path])
            if rng.random() < 0.8:
                damaged[at] ^= 1 << rng.randrange(8)
            else:
                del damaged[at:]
            yield kind, path, bytes(damaged)


def corruption(engine, cases, rng):
    engine.clear()
    engine.run()
    files = {}
    for name in os.listdir(engine.dir):
        if not name.startswith(("LOG", "LOCK")) and os.path.isfile(os.path.join(engine.dir, name)):
            with open(os.path.join(engine.dir, name), "rb") as f:
                files[name] = f.read()
    outcomes = {}
    for kind, path, damaged in damages(files, cases, rng):
        engine.clear()
        disk.write_files({**files, path: damaged}, engine.dir)
        outcomes.setdefault(kind, Counter())[judge_damage(engine.dump())] += 1
    return outcomes


def judge_faults(lines, dump):
    """What was acknowledged exists; what failed may exist, as a whole."""
    if any(line.startswith(("died", "hung")) for line in lines):
        return "died or hung"
    acked = {int(line.split()[1]) for line in lines if line.startswith("ack")}
    if dump.died:
        return "died or hung"
    if dump.refused:
        return "right" if not acked else "does not open"
    if dump.failed:
        return "does not read"
    if dump.wrong or dump.differs:
        return "wrong data"
    begun = {int(line.split()[1]) for line in lines if line.startswith("begin")}
    allowed = {}
    for batch in sorted(begun):
        for key in keys_of(batch):
            allowed[key] = {batch} if batch in acked else allowed.get(key, {0}) | {batch}
    found = {key: dump.has.get(key, 0) for key in allowed}
    if any(found[key] not in allowed[key] for key in allowed) or set(dump.has) - set(allowed):
        return "acknowledged writes lost"
    for batch in begun - acked:
        own, shared = keys_of(batch)
        if (found[own] == batch) != (found[shared] == batch) and max(found[own], found[shared]) <= batch:
            return "half a batch"
    return "right"


def faults(engine, runs, scratch):
    count = os.path.join(scratch, "count")
    engine.clear()
    engine.run(count=count)
    with open(count, encoding="utf-8") as f:
        calls = int(f.read())
    outcomes = Counter()
    ways = [(n, e, how) for n in range(1, calls + 1) for e in ERRORS for how in ("once", "ever")]
    for i in range(min(runs, len(ways))):
        n, error, how = ways[i * len(ways) // min(runs, len(ways))]
        engine.clear()
        lines = engine.run(fail=f"{n}:{error}:{how}")
        outcomes[judge_faults(lines, engine.dump())] += 1
    return outcomes


def kills(engine, number, rng):
    outcomes = Counter()
    for _ in range(number):
        engine.clear()
        stop = rng.randrange(1, 2 * BATCHES)
        lines = []
        with subprocess.Popen(
            [engine.program, "run", engine.dir, str(2 * BATCHES)], stdout=subprocess.PIPE, text=True
        ) as p:
            for line in p.stdout:
                lines.append(line)
                if line.startswith("ack") and int(line.split()[1]) == stop:
                    p.send_signal(signal.SIGKILL)
        acked = [int(line.split()[1]) for line in lines if line.startswith("ack")]
        outcomes[judge_prefix(engine.dump(), max(acked, default=0), 2 * BATCHES)] += 1
    return outcomes


def table(title, rows, columns):
    """rows: (label, Counter)"""
    used = [c for c in columns if c == columns[0] or any(counter[c] for _, counter in rows)]
    unknown = {c for _, counter in rows for c in counter} - set(columns)
    assert not unknown, unknown
    print(f"\n| {title} | cases | " + " | ".join(used) + " |")
    print("| --- |" + " ---: |" * (len(used) + 1))
    for label, counter in rows:
        cells = [f"{counter[c]:,}" for c in used]
        print(f"| {label} | {sum(counter.values()):,} | " + " | ".join(cells) + " |")
    sys.stdout.flush()


ENDS = ["right", "synced writes lost", "acknowledged writes lost", "a hole", "half a batch", "wrong data"]
ENDS += ["does not open", "does not read", "died or hung"]
DAMAGED = ["refused", "error", "exact", "end lost silently", "hole, silently", "wrong data", "died or hung"]
ALLOWED = {"right", "refused", "error", "exact"}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", required=True)
    p.add_argument("--engines", default="compassdb,rocksdb,leveldb")
    p.add_argument("--cuts", type=int, default=1000, help="per engine and kind of file system")
    p.add_argument("--cases", type=int, default=1500, help="of damage, per engine")
    p.add_argument("--faults", type=int, default=1000, help="per engine")
    p.add_argument("--kills", type=int, default=100, help="per engine")
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    print(f"seed {args.seed}")
    with tempfile.TemporaryDirectory(prefix="compassdb-rivals-", dir=test_dir.base()) as scratch:
        engines = [Engine(name, args.bin, scratch) for name in args.engines.split(",")]
        found = compare(engines, args, scratch)
    ours = [(test, what, n) for test, engine, what, n in found if engine == "compassdb" and what not in ALLOWED]
    for test, what, n in ours:
        print(f"FAILED: {test}: {n} times: {what}", file=sys.stderr)
    rocksdb_loses = any(what == "end lost silently" for _, engine, what, _ in found if engine == "rocksdb")
    blind = any(e.name == "rocksdb" for e in engines) and args.cases > 0 and not rocksdb_loses
    if blind:
        print("FAILED: no damage to RocksDB's log was found to be passed over", file=sys.stderr)
    return 1 if ours or blind else 0


def compare(engines, args, scratch):
    found = []

    def note(test, rows, columns):
        table(test, rows, columns)
        found.extend((test, label.split(",")[0], what, n) for label, c in rows for what, n in c.items())

    for journal in (False, True):
        title = "power cuts, names durable " + ("with any sync" if journal else "with their directory")
        rows = [(e.name, power_cuts(e, args.cuts, journal, random.Random(args.seed), scratch)) for e in engines]
        note(title, rows, ENDS)
    rows = []
    for engine in engines:
        by_kind = corruption(engine, args.cases, random.Random(args.seed))
        rows += [(f"{engine.name}, {kind}", by_kind[kind]) for kind in sorted(by_kind)]
    note("damage", rows, DAMAGED)
    note("failing calls", [(e.name, faults(e, args.faults, scratch)) for e in engines], ENDS)
    note("kill -9", [(e.name, kills(e, args.kills, random.Random(args.seed))) for e in engines], ENDS)
    return found


if __name__ == "__main__":
    sys.exit(main())
