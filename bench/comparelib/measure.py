# SPDX-License-Identifier: Apache-2.0
"""Runs the groups of a measured suite: one database per engine (and repeat,
where the fill itself is measured), engines by turns."""

import json
import os
import re
import shutil
import subprocess
import time

from . import device, hashkv, jobs, kallax, page_model, physical, runner
from .runner import RunError, say

ENGINES = {
    **runner.ENGINES,
    "rocksdb-whole": ("kvbench-rocksdb", []),
    "lmdb": ("kvbench-lmdb", []),
    "leveldb": ("kvbench-leveldb", []),
    "leveldb-64": ("kvbench-leveldb", []),
    "wiredtiger": ("kvbench-wiredtiger", []),
    # As the KallaxDB paper has it: its defaults, with filters.
    "rocksdb-paper": (
        "kvbench-rocksdb",
        ["--defaults", "--options-string", "block_based_table_factory={filter_policy=bloomfilter:10:false}"],
    ),
    "rocksdb-blob": ("kvbench-rocksdb", []),
    "rocksdb-blob-no-gc": ("kvbench-rocksdb", []),
    **{name: ("kvbench-compassdb", ["--preset", "hash-kv"]) for name in hashkv.VARIANTS},
    **{name: ("kvbench-compassdb", ["--preset", "tableless"]) for name in kallax.VARIANTS},
    **{
        name: ("kvbench-compassdb", ["--preset", "bolt-sorted"])
        for name in ("compassdb-bolt", "compassdb-bolt-ls", "compassdb-bolt-gc", "compassdb-bolt-stl")
    },
}


def program(args, engine):
    return runner.program(args, ENGINES[engine][0])


def engine_flags(engine, flags):
    """The step's flags for this engine."""
    flags = list(flags)
    if engine == "rocksdb" and "--index-in-cache" in flags:
        flags.append("--partition-index")
    if engine in ("lmdb", "leveldb", "leveldb-64"):  # know no direct reads
        flags = [f for f in flags if f not in ("--direct",)]
    return ENGINES[engine][1] + flags


def call(cmd, out):
    done = subprocess.run(cmd, stdout=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise RunError(f"exit code {done.returncode} of: {' '.join(cmd)}")
    with open(out, encoding="utf-8") as f:
        return json.loads(f.readline())


def leave_page_cache(path):
    """Writes the files below `path` back and takes them out of the page cache."""
    for directory, _, names in os.walk(path):
        for name in names:
            fd = os.open(os.path.join(directory, name), os.O_RDONLY)
            try:
                os.fdatasync(fd)
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(fd)


class Measurement:
    """One run of a suite; results are kept in `report` as they come."""

    def __init__(self, args, report, save):
        self.args = args
        self.report = report
        self.save = save  # called after each result
        self.results = report["results"]
        self.start = time.monotonic()

    def of(self, group, step=None, engine=None):
        return [
            r
            for r in self.results
            if r["group"] == group.name
            and (step is None or r["step"] == step)
            and (engine is None or r["engine"] == engine)
        ]

    def database(self, group, engine, repeat):
        place = f"{group.name}-{engine}" + (f"-{repeat}" if group.refill else "")
        return os.path.join(self.args.work_dir, place)

    def seconds(self, group):
        return group.seconds or self.args.seconds

    def rate(self, group, step):
        label, share = step.rate_of
        fastest = max((r["ops_per_second"] for r in self.of(group, label)), default=None)
        if fastest is None:
            raise RunError(f"{group.name}, {step.label}: nothing measured for '{label}'")
        return max(1, int(fastest * share))

    def command(self, group, step, engine, repeat, out):
        seconds = self.seconds(group)
        cmd = [program(self.args, engine), "--workload", step.workload]
        cmd += ["--db", self.database(group, engine, repeat), "--json", out]
        cmd += ["--key-size", group.key_size, "--value-size", group.value_sizes or group.value_size]
        cmd += ["--threads", step.threads or group.threads, "--records", group.records]
        cmd += ["--memtable-mb", group.memtable_mb, "--seed", self.args.seed + repeat]
        cmd += ["--background-threads", self.args.background_threads]
        if not step.fills:
            cmd += ["--reuse-db"]
            if step.share is not None:
                cmd += ["--operations", max(1, int(step.share * group.records))]
            else:
                rate = self.rate(group, step) if step.rate_of else step.per_second
                cmd += ["--operations", max(1, int(rate * seconds))]
                cmd += ["--rate", rate] if step.rate_of else ["--seconds", max(1, round(seconds))]
        cmd += engine_flags(engine, group.flags + step.flags)
        cmd += group.extra.get(engine, [])
        return [str(c) for c in cmd]

    def run_kvbench(self, group, step, engine, repeat):
        out = os.path.join(self.args.work_dir, "result.json")
        cmd = self.command(group, step, engine, repeat, out)
        probe = device.start_stall_probe(self.args.work_dir, self.seconds(group)) if step.rate_of else None
        try:
            result = call(cmd, out)
        finally:
            stall = device.stop_stall_probe(probe) if probe else None
        result["command"] = " ".join([os.path.basename(cmd[0])] + cmd[1:])
        result["device_stall_ms"] = stall
        if step.physical:
            result["physical_bytes"] = physical.of(self.database(group, engine, repeat)).physical
        if step.jobs:
            result["job_seconds"] = jobs.seconds_in(self.database(group, engine, repeat))
        if step.pages:
            tool = runner.program(self.args, "compassdb")
            place, properties = self.database(group, engine, repeat), result["properties"]
            result["page_model"] = page_model.read(tool, place, properties, group.key_size)
        before = [r for r in self.of(group, engine=engine) if not group.refill or r["repeat"] == repeat]
        written = [r.get("device_bytes_written") or 0 for r in before]
        result["device_bytes_so_far"] = sum(written) + result["device_bytes_written"]
        return result

    def run_device(self, group, step):
        engine = next(iter(self.of(group, step.label, "compassdb")), None)
        if engine is None:
            raise RunError(f"{group.name}, {step.label}: CompassDB must run before the device")
        return device.random_reads(
            self.args.work_dir,
            engine["db_bytes"],
            device.read_shape(engine),
            step.threads or group.threads,
            self.seconds(group),
        )

    def run_one(self, group, step, engine, repeat):
        if engine == "device":
            result = self.run_device(group, step)
        else:
            result = self.run_kvbench(group, step, engine, repeat)
        result.update(engine=engine, group=group.name, step=step.label, repeat=repeat)
        self.results.append(result)
        self.save()
        say(
            f"[{time.monotonic() - self.start:5.0f} s] {group.name} {repeat + 1} {step.label:<22} "
            f"{engine:<17} {result['ops_per_second']:>11,.0f} operations/s"
        )

    def done(self, group, step, engine, repeat):
        return any(r["repeat"] == repeat for r in self.of(group, step.label, engine))

    def order(self, group, step, turn):
        """The first engine changes; the device needs an engine's figures first."""
        engines = step.engines or [e for e in group.engines if e != "device"]
        order = engines if turn % 2 == 0 else engines[::-1]
        return sorted(order, key=lambda e: e == "device")

    def run_step(self, group, step, repeat, turn, only=None):
        for engine in self.order(group, step, turn):
            once = engine == "rocksdb-defaults" and repeat > 0  # far off: one repeat says it
            if only in (None, engine) and not once and not self.done(group, step, engine, repeat):
                self.run_one(group, step, engine, repeat)

    def wanted(self, group, step):
        prepares = step.fills or step.share is not None
        return prepares or re.search(self.args.only, f"{group.name}: {step.label}")

    def run_group(self, group):
        steps = [s for s in group.steps if self.wanted(group, s)]
        if not any(re.search(self.args.only, f"{group.name}: {s.label}") for s in steps):
            return
        for repeat in range(self.args.repeats if group.refill else 1):
            if group.one_by_one:
                for engine in group.engines if repeat % 2 == 0 else group.engines[::-1]:
                    self.run_steps(group, steps, repeat, engine)
                    self.leave(group, repeat, [engine])
            else:
                self.run_steps(group, steps, repeat)
                self.leave(group, repeat, group.engines)

    def run_steps(self, group, steps, repeat, engine=None):
        """One repeat of a group that is refilled each time, or all of one that is not; of all engines or one."""
        for turn, step in enumerate(steps):
            if group.refill:
                self.run_step(group, step, repeat, repeat + turn, engine)
                continue
            times = 1 if step.fills or step.share is not None else step.repeats or self.args.repeats
            for again in range(times):
                self.run_step(group, step, again, again + turn, engine)

    def leave(self, group, repeat, engines):
        """Removes these databases from the disk (without --keep) and from memory, for the next run."""
        for engine in engines:
            path = self.database(group, engine, repeat)
            if self.args.keep:
                leave_page_cache(path)
                continue
            shutil.rmtree(path, ignore_errors=True)
            if os.path.exists(path + ".kvbench"):
                os.remove(path + ".kvbench")
