# SPDX-License-Identifier: Apache-2.0
"""bench/suites/NAME: every suite of one paper, one after the other."""

import argparse
from pathlib import Path

from . import bolt, cli, construction, figures, hashkv, kallax, paper

FAMILIES = {
    "figures": [*figures.SUITES],
    "compassdb": [*paper.SUITES, construction.SUITE],
    "bolt": [*bolt.SUITES],
    "hashkv": [*hashkv.SUITES],
    "kallax": [*kallax.SUITES],
}


def main(family, argv):
    p = argparse.ArgumentParser(
        prog=f"bench/suites/{family}",
        description="Runs " + ", ".join(FAMILIES[family]) + ". All other flags are those of bench/compare.",
    )
    p.add_argument("--list", action="store_true", help="names the suites and ends")
    p.add_argument(
        *("--out",), default=str(cli.ROOT / "build" / "figures"), help="directory of the reports (default: %(default)s)"
    )
    args, rest = p.parse_known_args(argv)
    if args.list:
        print("\n".join(FAMILIES[family]))
        return 0
    worst = 0
    for suite in FAMILIES[family]:
        print(f"== {suite}", flush=True)
        worst = max(worst, cli.main(["--suite", suite, "--out", str(Path(args.out) / suite), *rest]))
    return worst
