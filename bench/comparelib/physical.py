#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The space that a database takes on a drive that compresses: zlib of every 4 KiB block of every file, one
block at a time, as the drive of the KallaxDB paper does it (4.1).

  bench/comparelib/physical.py [--level 1] DIR...     one JSON object per directory

What was never written or was punched out counts nothing, a block of zeros nearly nothing, and a block that does
not compress its 4 KiB. The database is to be closed."""

import argparse
import errno
import json
import os
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

BLOCK = 4096
CHUNK = 1024 * BLOCK  # that one thread compresses at a time
LEVEL = 1


@dataclass
class Space:
    length: int = 0  # of all files, holes included
    logical: int = 0  # blocks that the file system holds
    physical: int = 0  # the same, compressed

    def add(self, other):
        self.length += other.length
        self.logical += other.logical
        self.physical += other.physical


def extents(fd, size):
    """(from, to) of the ranges without holes, in whole blocks."""
    at = 0
    while at < size:
        try:
            begin = os.lseek(fd, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # a hole up to the end
                return
            raise
        end = os.lseek(fd, begin, os.SEEK_HOLE)
        begin = max(at, begin // BLOCK * BLOCK)
        end = -(-end // BLOCK) * BLOCK
        yield begin, end
        at = end


def compressed(data, level):
    """Bytes of the blocks of `data`, whose last one is filled up with zeros."""
    data += bytes(-len(data) % BLOCK)
    blocks = (data[at : at + BLOCK] for at in range(0, len(data), BLOCK))
    return sum(min(BLOCK, len(zlib.compress(block, level))) for block in blocks)


def of_file(path, level=LEVEL):
    fd = os.open(path, os.O_RDONLY)
    try:
        status = os.fstat(fd)
        space = Space(length=status.st_size, logical=status.st_blocks * 512)
        for begin, end in extents(fd, status.st_size):
            for at in range(begin, end, CHUNK):
                space.physical += compressed(os.pread(fd, min(CHUNK, end - at), at), level)
        return space
    finally:
        os.close(fd)


def of(directory, level=LEVEL):
    """The Space of all files below `directory`. A file with several names counts once."""
    paths, seen = [], set()
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            if os.path.isfile(path) and not os.path.islink(path) and (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                paths.append(path)
    total = Space()
    with ThreadPoolExecutor() as pool:
        for space in pool.map(lambda path: of_file(path, level), paths):
            total.add(space)
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="+", metavar="DIR")
    parser.add_argument("--level", type=int, choices=range(1, 10), default=LEVEL, help="of zlib")
    args = parser.parse_args()
    for directory in args.directories:
        if not os.path.isdir(directory):
            parser.error(f"{directory} is not a directory")
        print(json.dumps({"directory": directory, **asdict(of(directory, args.level))}))


if __name__ == "__main__":
    main()
