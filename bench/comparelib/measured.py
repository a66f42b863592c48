# SPDX-License-Identifier: Apache-2.0
"""Runs a measured suite from the command line of bench/compare and writes its report."""

import json
import os
import shlex
from dataclasses import asdict
from pathlib import Path

from . import bolt, bolt_plots, figures, figures_report, hashkv, hashkv_plots, kallax, kallax_plots
from . import lines, measure, paper, summary
from .plan import Either
from .runner import RunError

SUITES = {**figures.SUITES, **paper.SUITES, **bolt.SUITES, **hashkv.SUITES, **kallax.SUITES}
GROUP_FIELDS = ("name", "title", "records", "value_size", "value_sizes", "key_size", "threads", "memtable_mb", "flags")
GROUP_FIELDS += ("one_by_one", "extra")


def groups_of(args):
    groups = SUITES[args.suite](figures.Size(args))
    return only_engines(groups, args.engines) if args.engines else groups


def only_engines(groups, chosen):
    """The groups without other engines, and without the targets that need those."""
    known = {e for g in groups for e in g.engines}
    unknown = [e for e in chosen if e not in known]
    if unknown:
        raise RunError(f"--engines: {unknown[0]} is not in this suite, which has {', '.join(sorted(known))}")

    def measurable(target):
        parts = target.targets if isinstance(target, Either) else [target]
        return all(t.engine in chosen and t.against in (None, *chosen) for t in parts)

    for group in groups:
        group.engines = [e for e in group.engines if e in chosen]
        for step in group.steps:
            step.engines = step.engines and [e for e in step.engines if e in chosen]
            step.targets = [t for t in step.targets if measurable(t)]
    return [g for g in groups if g.engines]


def settings_of(args):
    names = ("suite", "repeats", "seconds", "long", "records", "background_threads", "seed", "rocksdb")
    return {name: getattr(args, name) for name in names}


def load_earlier(args):
    path = Path(f"{args.out}.json")
    if not args.go_on or not path.exists():
        return []
    earlier = json.loads(path.read_text(encoding="utf-8"))
    if earlier.get("suite") != args.suite:
        raise RunError(f"{path} is a report of suite '{earlier.get('suite')}', not of '{args.suite}'")
    return earlier["results"]


def run(args, argv):
    groups = groups_of(args)
    os.makedirs(args.work_dir, exist_ok=True)
    Path(args.out).parent.mkdir(parents=True, exist_ok=True)
    report = {
        "suite": args.suite,
        "command": shlex.join(["bench/compare", *argv]),
        "machine": summary.machine(),
        "settings": settings_of(args),
        "groups": [{k: v for k, v in asdict(g).items() if k in GROUP_FIELDS} for g in groups],
        "results": load_earlier(args),
    }

    def save():
        report["claim"] = summary.claim(report["results"])
        report["builds"] = summary.builds(report["results"])
        Path(f"{args.out}.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")

    measurement = measure.Measurement(args, report, save)
    for group in groups:
        measurement.run_group(group)
    save()
    text, marked = figures_report.render(report, groups)
    drawn = ((bolt, bolt_plots), (hashkv, hashkv_plots), (kallax, kallax_plots))
    source = next((plots for suites, plots in drawn if args.suite in suites.SUITES), paper)
    plots = lines.write_all(source.plots(args.suite, groups, report["results"]), args.out)
    marked += "".join(f"\n![{title}]({os.path.basename(path)})\n" for title, path in plots)
    Path(f"{args.out}.md").write_text(marked, encoding="utf-8")
    print(text)
    written = [f"{args.out}.json", f"{args.out}.md"] + [path for _, path in plots]
    print("Written: " + ", ".join(os.path.relpath(path) for path in written))
