# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/compare."""

import argparse
import json
import os
from pathlib import Path

from . import construction, measured, runner, suites, summary, svg, tables

ROOT = Path(__file__).resolve().parent.parent.parent


def positive(value):
    number = int(value.replace("_", ""))
    if number < 1:
        raise argparse.ArgumentTypeError(f"{value} is not a positive number")
    return number


def parse(argv):
    p = argparse.ArgumentParser(
        prog="bench/compare",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        description="CompassDB against RocksDB, by turns, in one table.",
    )
    p.add_argument(
        "--suite",
        choices=["demo", "standard", "fill", "presets", *measured.SUITES, construction.SUITE],
        default="demo",
        help="the first four compare engines; the others measure one scenario each",
    )
    p.add_argument(
        "--workloads",
        type=lambda v: v.split(","),
        help="instead of a suite: kvbench workloads, a fill first",
    )
    p.add_argument(
        "-n", "--repeats", type=positive, help="of the whole suite (default 1) or of each step (3)"
    )
    p.add_argument("--records", type=positive, help="default 1,000,000, or those of the suite")
    p.add_argument(
        "--operations",
        type=positive,
        help="per workload (scans: a tenth); default: as many as records",
    )
    p.add_argument("--key-size", type=positive, default=24)
    p.add_argument("--value-size", type=positive, default=1000)
    p.add_argument("--threads", type=positive, default=2)
    p.add_argument("--background-threads", type=positive, default=2)
    p.add_argument(
        "--cache-mb", type=positive, default=256, help="index, filters and cached blocks together"
    )
    p.add_argument("--memtable-mb", type=positive, help="default 64, or that of the suite")
    p.add_argument("--bloom-bits", type=float, default=10)
    p.add_argument("--compression", choices=["none", "snappy", "lz4", "zstd"], default="none")
    p.add_argument("--options-string", help="given to all engines")
    io = p.add_mutually_exclusive_group()
    io.add_argument(
        "--direct",
        dest="direct",
        action="store_true",
        default=None,
        help="O_DIRECT: the device is measured, not the page cache (default with the tuned peer)",
    )
    io.add_argument(
        "--buffered",
        dest="direct",
        action="store_false",
        help="through the page cache (default with RocksDB's defaults, which know no O_DIRECT)",
    )
    p.add_argument("--sync", action="store_true", help="every write waits for the disk")
    p.add_argument("--writes-per-second", type=positive, default=10_000, help="in readwhilewriting")
    p.add_argument("--seed", type=int, default=1, help="of the first repeat")
    p.add_argument(
        "--peer",
        choices=["tuned", "defaults", "both"],
        default="tuned",
        help="how RocksDB is set up",
    )
    p.add_argument(
        "--engines",
        type=lambda v: v.split(","),
        help="instead of --peer: " + ", ".join(runner.ENGINES) + "; of a measured suite: these of its engines alone",
    )
    p.add_argument("--budget", type=positive, help="seconds; no further step begins after them")
    p.add_argument(
        "--bin", default=str(ROOT / "build" / "bin"), help="where the two kvbench programs are"
    )
    p.add_argument(
        "--work-dir", default=str(ROOT / "build" / "bench-data"), help="where the databases go"
    )
    p.add_argument(
        "--out", default=str(ROOT / "build" / "compare"), help="writes OUT.json, OUT.md and OUT.svg"
    )
    p.add_argument("--keep", action="store_true", help="leave the databases there")
    p.add_argument(
        *("--rocksdb",),
        choices=["auto", "release", "debian"],
        default="auto",
        help="which build of it: release is that of rocksdb-release/build; auto: that, if it exists",
    )
    m = p.add_argument_group("measured suites", ", ".join(measured.SUITES))
    m.add_argument("--long", action="store_true", help="the sizes at which the figures are claimed")
    m.add_argument("--seconds", type=positive, help="per timed step; default 3, with --long 30")
    m.add_argument("--only", default="", help='regular expression on "group: step"; fills always run')
    m.add_argument(
        "--continue",
        dest="go_on",
        action="store_true",
        help="keep the results of OUT.json and the databases of an earlier --keep, measure what lacks",
    )
    args = p.parse_args(argv)
    if args.suite in (*measured.SUITES, construction.SUITE) and not args.workloads:
        args.repeats = args.repeats or 3
        args.seconds = args.seconds or (30 if args.long else 3)
        return args
    args.repeats = args.repeats or 1
    args.records = args.records or 1_000_000
    args.memtable_mb = args.memtable_mb or 64
    args.operations = args.operations or args.records
    if args.engines is None:
        args.engines = ["compassdb"] + {
            "tuned": ["rocksdb"],
            "defaults": ["rocksdb-defaults"],
            "both": ["rocksdb", "rocksdb-defaults"],
        }[args.peer]
    if args.direct is None:
        args.direct = "rocksdb-defaults" not in args.engines
    unknown = [e for e in args.engines if e not in runner.ENGINES]
    if unknown:
        p.error(f"--engines: unknown engine {unknown[0]}")
    if not suites.steps_of(args)[0].fills:
        p.error("--workloads: the first must fill the database (load, fillrandom, fillseq)")
    return args


def make_report(args, steps, results, left_out):
    settings = {
        k: v
        for k, v in vars(args).items()
        if k not in ("bin", "work_dir", "out", "engines", "keep")
    }
    table = summary.summarise(results, steps, args.engines)
    peers = {e: summary.ratios(table, args.engines[0], e) for e in args.engines[1:]}
    return {
        "suite": args.suite if not args.workloads else "workloads",
        "engines": args.engines,
        "claim": summary.claim(results),
        "builds": summary.builds(results),
        "machine": summary.machine(),
        "settings": settings,
        "left_out": left_out,
        "ratios": peers,
        "summary": table,
        "results": results,
    }


def write_report(args, report):
    first_peer = args.engines[1] if len(args.engines) > 1 else None
    head, body = tables.rows(report["summary"], report["ratios"].get(first_peer, {}), args.engines)
    title = f"{report['suite']}: {report['claim']}"
    notes = tables.notes(report)
    out = Path(args.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    Path(f"{out}.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    Path(f"{out}.svg").write_text(svg.plot(report), encoding="utf-8")
    Path(f"{out}.md").write_text(
        f"# {title}\n\n{tables.markdown(head, body)}\n\n"
        + "".join(f"- {n}\n" for n in notes)
        + f"\n![plot]({out.name}.svg)\n",
        encoding="utf-8",
    )
    print(f"\n{title}\n\n{tables.text(head, body)}\n")
    print("".join(f"  {n}\n" for n in notes))
    print(f"Written: {os.path.relpath(out)}.json, .md and .svg")


def main(argv):
    args = parse(argv)
    try:
        if args.suite in measured.SUITES and not args.workloads:
            measured.run(args, argv)
            return 0
        if args.suite == construction.SUITE and not args.workloads:
            construction.run(args, argv)
            return 0
        steps = suites.steps_of(args)
        results, left_out = runner.run_all(args, steps, args.engines)
        write_report(args, make_report(args, steps, results, left_out))
    except (runner.RunError, OSError) as error:
        runner.say(f"bench/compare: {error}")
        return 1
    except KeyboardInterrupt:
        runner.say("bench/compare: interrupted")
        return 130
    return 0
