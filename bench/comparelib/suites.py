# SPDX-License-Identifier: Apache-2.0
"""The suites: a suite is a list of steps, each one kvbench call per engine."""

from dataclasses import dataclass, field


@dataclass
class Step:
    label: str  # of the row in the table
    workload: str  # of kvbench
    share: float = 1.0  # of the operations asked for
    flags: list = field(default_factory=list)

    @property
    def fills(self):
        return self.workload in ("load", "fillrandom", "fillseq")


SCAN_SHARE = 0.1  # scans touch fifty records each: a tenth of the operations
READ_SHARE = 0.1  # reads after writes that are what is measured: enough to say what they cost


def ycsb():
    steps = [Step("load", "load")]
    for letter in "abcdef":
        steps.append(Step(f"YCSB {letter.upper()}", letter, SCAN_SHARE if letter == "e" else 1.0))
    return steps


def reads(when):
    return [
        Step(f"readrandom {when}", "readrandom"),
        Step(f"YCSB C {when}", "c"),
        Step(f"readmissing {when}", "readmissing"),
        Step(f"seekrandom {when}", "seekrandom", SCAN_SHARE),
        Step(f"YCSB E {when}", "e", SCAN_SHARE),
    ]


def standard(writes_per_second):
    steps = [Step("load", "load")] + reads("after load")
    steps += [Step(f"overwrite {i}", "overwrite") for i in (1, 2, 3)]
    steps += reads("after 3 overwrites")
    steps += [Step(f"YCSB {letter.upper()}", letter) for letter in "abfd"]
    steps.append(
        Step(
            "readwhilewriting",
            "readwhilewriting",
            1.0,
            ["--writes-per-second", str(writes_per_second)],
        )
    )
    return steps


def fill():
    return [Step("fillrandom", "fillrandom"), Step("overwrite", "overwrite")] + reads(
        "after fillrandom"
    )


def presets():
    """The writes to tables alone, and the cost of reads after them (paper 4.4)."""
    no_wal = ["--disable-wal"]
    steps = [Step("load", "load", 1.0, no_wal)]
    steps += [Step(f"overwrite {i}", "overwrite", 1.0, no_wal) for i in (1, 2, 3, 4, 5)]
    return steps + [
        Step("readrandom", "readrandom", READ_SHARE),
        Step("seekrandom", "seekrandom", READ_SHARE * SCAN_SHARE),
    ]


def steps_of(args):
    """The steps that the command line asks for."""
    if args.workloads:
        shares = {"e": SCAN_SHARE, "seekrandom": SCAN_SHARE}
        return [
            Step(f"{w} ({i + 1})" if args.workloads.count(w) > 1 else w, w, shares.get(w, 1.0))
            for i, w in enumerate(args.workloads)
        ]
    return {
        "demo": ycsb,
        "standard": lambda: standard(args.writes_per_second),
        "fill": fill,
        "presets": presets,
    }[args.suite]()
