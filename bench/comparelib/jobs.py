# SPDX-License-Identifier: Apache-2.0
"""The background work of a run, from the events in its database's LOG: the seconds of each kind of job.

flush    memtables to values and tables, with what merges into the level below in the same job, and its manifest edit
collect  values of a segment group that are read and written again
merge    tables that are merged
commit   of collections and merges, what is in neither: the manifest edit, and waiting for those of others"""

import json
import os

from .runner import RunError

MARK = "EVENT_LOG_v1 "
KINDS = ("flush", "collect", "merge", "commit")


def events(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            at = line.find(MARK)
            if at < 0:
                continue
            try:
                yield json.loads(line[at + len(MARK) :])
            except ValueError as error:
                raise RunError(f"{path}: not an event: {line.strip()[:120]}") from error


def seconds_in(database):
    """{kind: seconds}; jobs that ran at the same time count twice. A job without an end is not counted."""
    path = os.path.join(database, "LOG")
    if not os.path.exists(path):
        raise RunError(f"{path} is missing: it says what flushes and collections took")
    micros = dict.fromkeys(KINDS, 0)
    begun = {}
    for event in events(path):
        what, job = event.get("event"), event.get("job")
        if what in ("flush_started", "compaction_started"):
            begun[job] = event
        elif what in ("flush_finished", "compaction_finished") and job in begun:
            first = begun.pop(job)
            whole = event["time_micros"] - first["time_micros"]
            if what == "flush_finished":
                micros["flush"] += whole
                continue
            inner = event["compaction_time_micros"]
            kind = "collect" if first.get("compaction_reason") == "ForcedBlobGC" else "merge"
            micros[kind] += inner
            micros["commit"] += max(0, whole - inner)
    return {kind: value / 1e6 for kind, value in micros.items()}
