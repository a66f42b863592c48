# SPDX-License-Identifier: Apache-2.0
"""What a power cut leaves of a directory, from a trace of what a program did to it (interpose.cc).

A file's bytes are durable once it was synced; of later writes each may be there or not. A name is durable once
its directory was synced ("strict"), or with any later sync ("journal", what a journaling file system like ext4
does); later changes of names are lost from some change on."""

import os

PAGE = 4096


class File:
    def __init__(self):
        self.now = bytearray()
        self.durable = bytearray()
        self.pending = []  # (offset, bytes), or (length, None) for a new size

    def write(self, offset, data):
        put(self.now, offset, data)
        self.pending.append((offset, data))

    def resize(self, length):
        resize(self.now, length)
        self.pending.append((length, None))

    def sync(self):
        self.durable = bytearray(self.now)
        self.pending = []

    def after_cut(self, how, random):
        """`how`: drop, keep, torn (a prefix of the changes, the last at a byte) or pages (any of those of 4 KiB)."""
        if how == "keep":
            return bytes(self.now)
        data = bytearray(self.durable)
        if how == "torn":
            cut = random.randint(0, len(self.pending))
            for offset, piece in self.pending[:cut]:
                change(data, offset, piece)
            if cut < len(self.pending) and self.pending[cut][1]:
                offset, piece = self.pending[cut]
                put(data, offset, piece[: random.randint(0, len(piece))])
        if how == "pages":
            for offset, piece in self.pending:
                if piece is None:
                    if random.random() < 0.5:
                        resize(data, offset)
                    continue
                at = offset
                while at < offset + len(piece):
                    end = min((at // PAGE + 1) * PAGE, offset + len(piece))
                    if random.random() < 0.5:
                        put(data, at, piece[at - offset : end - offset])
                    at = end
        return bytes(data)


def resize(data, length):
    if length < len(data):
        del data[length:]
    else:
        data.extend(bytes(length - len(data)))


def put(data, offset, piece):
    if offset + len(piece) > len(data):
        resize(data, offset + len(piece))
    data[offset : offset + len(piece)] = piece


def change(data, offset, piece):
    if piece is None:
        resize(data, offset)
    else:
        put(data, offset, piece)


class Disk:
    """Replays a trace; `notes` are the program's own lines so far."""

    def __init__(self, data, journal):
        self.data, self.journal = data, journal
        self.names, self.durable_names, self.pending_names = {}, {}, []
        self.handles = {}  # file, or the path of a directory
        self.dirs = {"."}
        self.notes = []

    def name_change(self, path, file):
        """`file` None: the name is deleted."""
        set_name(self.names, path, file)
        self.pending_names.append([(path, file)])

    def rename(self, a, b):
        file = self.names[a]
        set_name(self.names, b, file)
        set_name(self.names, a, None)
        self.pending_names.append([(b, file), (a, None)])  # both or none

    def commit_names(self, directory):
        rest = []
        for step in self.pending_names:
            if directory is None or os.path.dirname(step[0][0]) == ("" if directory == "." else directory):
                for path, file in step:
                    set_name(self.durable_names, path, file)
            else:
                rest.append(step)
        self.pending_names = rest

    def apply(self, line):
        """True if the disk changed by it."""
        op, _, rest = line.partition(" ")
        if op == "note":
            self.notes.append(rest)
            return False
        words = rest.split(" ")
        if op == "open":
            return self.open(words[0], words[1], words[2])
        if op == "mkdir":
            self.dirs.add(words[0])
        elif op == "rename":
            self.rename(words[0], words[1])
        elif op == "link":
            self.name_change(words[1], self.names[words[0]])
        elif op == "unlink":
            self.name_change(words[0], None)
        else:
            self.change_file(op, self.handles[words[0]], [int(w) for w in words[1:]])
        return True

    def open(self, handle, kind, path):
        if kind == "dir":
            self.handles[handle] = path
            return False
        if kind == "new":
            self.name_change(path, File())
        file = self.handles[handle] = self.names[path]
        if kind == "trunc":
            file.resize(0)
        return kind != "old"

    def change_file(self, op, file, numbers):
        if op == "sync":
            if isinstance(file, str):
                self.commit_names(None if self.journal else file)
            else:
                file.sync()
                if self.journal:
                    self.commit_names(None)
        elif op == "write":
            offset, size, at = numbers
            file.write(offset, self.data[at : at + size])
        elif op == "truncate":
            file.resize(numbers[0])
        elif op == "zero":
            offset, size = numbers
            size = max(0, min(size, len(file.now) - offset))
            file.write(offset, bytes(size))
        elif op == "extend":
            if sum(numbers) > len(file.now):
                file.resize(sum(numbers))
        else:
            raise ValueError(f"a trace with {op}")

    def after_cut(self, how, random):
        names = dict(self.durable_names)
        steps = {"drop": 0, "keep": len(self.pending_names)}.get(how, random.randint(0, len(self.pending_names)))
        for step in self.pending_names[:steps]:
            for path, file in step:
                set_name(names, path, file)
        return {path: file.after_cut(how, random) for path, file in names.items()}


def set_name(names, path, file):
    if file is None:
        names.pop(path, None)
    else:
        names[path] = file


def write_files(files, where):
    for path, data in files.items():
        to = os.path.join(where, path)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(to, "wb") as f:
            f.write(data)
