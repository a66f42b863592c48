# SPDX-License-Identifier: Apache-2.0
"""The pages of a table-less database and the formulas of the KallaxDB paper (3.3), both as `compassdb`
prints them."""

import json
import math
import subprocess
from itertools import accumulate

from .runner import RunError

# 3.3.1 and 3.3.2: pages of 4096 B and N(400, 25).
PAGE, PAIR, SIGMA = 4096, 400, 25
PAGE_HEADER, RECORD_HEADER = 16, 8  # that a plan counts
PROPERTIES = ("tableless-pages", "tableless-records", "tableless-bytes", "tableless-overflow-bytes")


def normal_sizes(mean, sigma):
    """A normal distribution as kvbench's --value-size takes it: every fifth byte, to four sigmas."""
    sizes = range(mean - 4 * sigma, mean + 4 * sigma + 1, 5)
    weights = [round(10_000 * math.exp(-(((size - mean) / sigma) ** 2) / 2)) for size in sizes]
    return ",".join(f"{size}x{weight}" for size, weight in zip(sizes, weights))


def output_of(cmd):
    cmd = [str(c) for c in cmd]
    done = subprocess.run(cmd, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise RunError(f"exit code {done.returncode} of: {' '.join(cmd)}")
    return json.loads(done.stdout)


def read(program, database, properties, key_size):
    """What its pages hold; the plan for its pairs, of their mean size as stored, and for the paper's."""
    pages, pairs, stored, _ = (properties[f"compassdb.{name}"] for name in PROPERTIES)
    plan = [program, "plan-tableless", "--json", "--pairs", pairs, "--pages", pages]
    plan += ["--value-sigma", SIGMA]
    value = round(stored / pairs) - RECORD_HEADER - key_size
    fill = [program, "stats", "--db", database, "--property", "compassdb.tableless-page-fill"]
    return {
        "contents": output_of(fill),
        "plan": output_of([*plan, "--key-size", key_size, "--value-size", value]),
        "paper": output_of([*plan, "--values-only", "--value-size", PAIR]),
    }


def shares(numbers):
    return [n / sum(numbers) for n in numbers]


def overflowing(result):
    """The share of pages with pairs in the overflow store."""
    alike = result["page_model"]["contents"]["pages_by_pairs"]
    return sum(p["overflowing"] for p in alike) / sum(p["pages"] for p in alike)


def overflow_ratio(result):
    _, _, stored, spilled = (result["properties"][f"compassdb.{name}"] for name in PROPERTIES)
    return spilled / stored


def fill(result):
    pages, _, stored, _ = (result["properties"][f"compassdb.{name}"] for name in PROPERTIES)
    return stored / (pages * (PAGE - PAGE_HEADER))


def planned(name):
    return lambda result: result["page_model"]["plan"][name]


def off(measured, name):
    """By how much of what is planned."""
    return lambda result: abs(measured(result) / planned(name)(result) - 1)


def fill_distance(result):
    """The largest difference of the shares of pages that are filled to at most so much."""
    model = result["page_model"]
    both = (shares(model["contents"]["page_fill"]), model["plan"]["page_fill"])
    return max(abs(a - b) for a, b in zip(*map(accumulate, both)))


def percent(figure):
    return lambda result: 100 * figure(result) if "page_model" in result else None


METRICS = {
    "overflowing": percent(overflowing),
    "overflowing_planned": percent(planned("overflow_probability")),
    "overflowing_off": percent(off(overflowing, "overflow_probability")),
    "overflow_bytes": percent(overflow_ratio),
    "overflow_bytes_planned": percent(planned("overflow_ratio")),
    "overflow_bytes_off": percent(off(overflow_ratio, "overflow_ratio")),
    "fill": percent(fill),
    "fill_planned": percent(planned("fill_factor")),
    "fill_distance": percent(fill_distance),
}
