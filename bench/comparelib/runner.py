# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of a suite on all engines, by turns."""

import json
import os
import shutil
import subprocess
import sys
import time


class RunError(Exception):
    """A run that failed, in one line."""


ENGINES = {
    "compassdb": ("kvbench-compassdb", []),
    "compassdb-read-mostly": ("kvbench-compassdb", ["--preset", "read-mostly"]),
    "compassdb-paper": ("kvbench-compassdb", ["--preset", "compass-paper"]),
    "compassdb-hash-range": ("kvbench-compassdb", ["--preset", "hash-range"]),
    "compassdb-update-heavy": ("kvbench-compassdb", ["--preset", "update-heavy"]),
    "rocksdb": ("kvbench-rocksdb", []),
    "rocksdb-defaults": ("kvbench-rocksdb", ["--defaults"]),
}


def say(text):
    print(text, file=sys.stderr, flush=True)


def program(args, name):
    path = os.path.join(args.bin, name)
    if name == "kvbench-rocksdb" and args.rocksdb != "debian":
        release = path + "-release"
        if args.rocksdb == "release" or os.access(release, os.X_OK):
            path = release
    if not os.access(path, os.X_OK):
        raise RunError(f"{path} is missing: build it first (make build), or give --bin")
    return path


def check_space(args, engines):
    """Fails early rather than in the middle of the night."""
    need = 4 * args.records * (args.key_size + args.value_size) * len(engines)
    free = shutil.disk_usage(args.work_dir).free
    if free < need:
        raise RunError(
            f"{args.work_dir}: {free >> 20} MiB free, up to {need >> 20} MiB needed; give --work-dir or fewer --records"
        )


def command(args, engine, step, db, out, repeat):
    operations = max(1, int(args.operations * step.share))
    cmd = [
        program(args, ENGINES[engine][0]),
        *ENGINES[engine][1],
        "--workload",
        step.workload,
        "--db",
        db,
        "--json",
        out,
        "--records",
        args.records,
        "--operations",
        operations,
        "--threads",
        args.threads,
        "--key-size",
        args.key_size,
        "--value-size",
        args.value_size,
        "--cache-mb",
        args.cache_mb,
        "--memtable-mb",
        args.memtable_mb,
        "--compression",
        args.compression,
        "--bloom-bits",
        args.bloom_bits,
        "--background-threads",
        args.background_threads,
        "--seed",
        args.seed + repeat,
        *step.flags,
    ]
    if args.direct:
        cmd.append("--direct")
    if args.sync:
        cmd.append("--sync")
    if not step.fills:
        cmd.append("--reuse-db")
    if args.options_string:
        cmd += ["--options-string", args.options_string]
    return [str(c) for c in cmd]


def run_one(args, engine, step, repeat):
    db = os.path.join(args.work_dir, f"{engine}-{repeat}")
    out = os.path.join(args.work_dir, f"{engine}-result.json")
    cmd = command(args, engine, step, db, out, repeat)
    done = subprocess.run(cmd, stdout=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise RunError(f"{engine}, {step.label}: exit code {done.returncode} of: {' '.join(cmd)}")
    with open(out, encoding="utf-8") as f:
        result = json.loads(f.readline())
    result.update(engine=engine, step=step.label, repeat=repeat, command=" ".join(cmd[1:]))
    return result


def remove_databases(args, engines, repeat):
    for engine in engines:
        db = os.path.join(args.work_dir, f"{engine}-{repeat}")
        shutil.rmtree(db, ignore_errors=True)
        if os.path.exists(db + ".kvbench"):
            os.remove(db + ".kvbench")


def run_all(args, steps, engines):
    """All results, and the labels of steps that the time budget left out."""
    os.makedirs(args.work_dir, exist_ok=True)
    check_space(args, engines)
    results, left_out, start = [], [], time.monotonic()
    for repeat in range(args.repeats):
        for number, step in enumerate(steps):
            if args.budget and time.monotonic() - start > args.budget:
                left_out.append(
                    step.label if args.repeats == 1 else f"{step.label} (repeat {repeat + 1})"
                )
                continue
            # The first engine changes, so that neither always finds the machine warm.
            order = engines if (repeat + number) % 2 == 0 else engines[::-1]
            for engine in order:
                result = run_one(args, engine, step, repeat)
                results.append(result)
                say(
                    f"[{time.monotonic() - start:5.0f} s] {repeat + 1}/{args.repeats} {step.label:<28} "
                    f"{engine:<17} {result['ops_per_second']:>10,.0f} operations/s"
                )
        if not args.keep:
            remove_databases(args, engines, repeat)
    return results, left_out
