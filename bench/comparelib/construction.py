# SPDX-License-Identifier: Apache-2.0
"""The paper's figure 13: building perfect hash functions of more and more keys (perfect_hash_bench)."""

import json
import os
import shlex
import statistics
import subprocess
from pathlib import Path

from . import lines, summary, tables
from .runner import RunError

SUITE = "paper-13"
FUNCTIONS = ["CPHash AVX-512", "CPHash AVX2", "CPHash scalar", "CHD", "PTHash", "default"]
PLOTS = [  # file suffix, sorted input, title
    ("build", True, "Figure 13: building from sorted input, ns per key"),
    ("build-unsorted", False, "Figure 13: building from unsorted input, ns per key"),
]


def sizes(args):
    if args.records:
        return [args.records]
    small = [10_000, 100_000]
    return small + [million * 1_000_000 for million in ((1, 2, 5, 10, 20, 50, 100) if args.long else (1, 10))]


def measure(args):
    program = os.path.join(args.bin, "perfect_hash_bench")
    if not os.access(program, os.X_OK):
        raise RunError(f"{program} is missing: build it first (ninja perfect_hash_bench), or give --bin")
    samples = f"{args.out}-samples.json"
    cmd = [program, "--suite=paper", f"--rounds={args.repeats}", f"--json={samples}"]
    cmd += ["--sizes=" + ",".join(map(str, sizes(args))), "--only=" + ",".join(FUNCTIONS)]
    done = subprocess.run(cmd, stdout=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise RunError(f"exit code {done.returncode} of: {' '.join(cmd)}")
    with open(samples, encoding="utf-8") as f:
        results = [json.loads(line) for line in f]
    os.remove(samples)
    return results


def median(results, function, keys, figure, in_order):
    values = [
        r[figure] for r in results if (r["function"], r["keys"], r["sorted"]) == (function, keys, in_order)
    ]
    return statistics.median(values) if values and min(values) >= 0 else None


def curves(results, in_order):
    counts = sorted({r["keys"] for r in results})
    out = {}
    for function in FUNCTIONS:
        points = [(n, median(results, function, n, "build_ns", in_order)) for n in counts]
        out[function] = [(n, v) for n, v in points if v is not None]
    return {function: points for function, points in out.items() if points}


def rows(results):
    """Per number of keys and function: bits, building, and its time over CHD's."""
    body = []
    for n in sorted({r["keys"] for r in results}):
        chd = median(results, "CHD", n, "build_ns", True)
        for function in FUNCTIONS:
            built = median(results, function, n, "build_ns", True)
            if built is None:
                continue
            unsorted = median(results, function, n, "build_ns", False)
            bits = median(results, function, n, "bits", False)
            over = f"{built / chd:.2f}" if chd else "-"
            body.append([f"{n:,}", function, f"{bits:.2f}", f"{built:.1f}", f"{unsorted:.1f}", over])
    return ["keys", "function", "bits/key", "build ns, sorted", "build ns, unsorted", "over CHD's"], body


def run(args, argv):
    Path(args.out).parent.mkdir(parents=True, exist_ok=True)
    results = measure(args)
    machine = summary.machine()
    report = {
        "suite": SUITE,
        "command": shlex.join(["bench/compare", *argv]),
        "machine": machine,
        "settings": {"repeats": args.repeats, "long": args.long},
        "results": results,
    }
    Path(f"{args.out}.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    plots = [
        (suffix, title, "keys", curves(results, in_order)) for suffix, in_order, title in PLOTS
    ]
    plots = lines.write_all(plots, args.out)
    head, body = rows(results)
    notes = [
        f"one thread, CPU time, median of {args.repeats}; load 0.9 and 5 keys per bucket but for the default function",
        f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}",
    ]
    marked = f"# Figure 13\n\n{tables.markdown(head, body)}\n\n" + "".join(f"- {n}\n" for n in notes)
    marked += f"\nCommand: `{report['command']}`\n"
    marked += "".join(f"\n![{title}]({os.path.basename(path)})\n" for title, path in plots)
    Path(f"{args.out}.md").write_text(marked, encoding="utf-8")
    print(f"{tables.text(head, body)}\n\n" + "".join(f"  {n}\n" for n in notes))
    written = [f"{args.out}.json", f"{args.out}.md"] + [path for _, path in plots]
    print("Written: " + ", ".join(os.path.relpath(path) for path in written))
