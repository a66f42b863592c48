#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""btrfs_test.py [--preset NAME] [--records N] CHECK: the table-less store on btrfs with compress-force=zstd, on a
loop device, with pages of 4, 32 and 128 KiB. CHECK (compressed_fs_check) fills a database, checks it, takes a
checkpoint, rewrites everything and checks both, makes a backup and restores it; compsize says what it takes on the
disk. Exit code 77, and a line that says why, where the machine does not allow it: it takes root, loop devices, btrfs and its tools.

Everything happens in a mount namespace of its own: mounts end with the process, however it ends. The
image is in $COMPASSDB_TEST_DIR or the system's directory for temporary files."""

import argparse
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = 77
IMAGE_BYTES = 2 << 30
NEEDED_BYTES = 1 << 30  # what is written compresses by half
PAGES_KIB = (4, 32, 128)
LONGEST = 600  # seconds, of everything
USER_BYTES = 416  # of a record
PR_SET_PDEATHSIG = 1
INSIDE = "COMPASSDB_BTRFS_TEST_INSIDE"  # its value: the process that entered the namespace


class Skip(Exception):
    pass


class Failure(Exception):
    pass


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Runner:
    def __init__(self):
        self.deadline = time.monotonic() + LONGEST

    def __call__(self, *command):
        """The output of a command. Failure if it fails, or there is no time left."""
        left = self.deadline - time.monotonic()
        try:
            done = subprocess.run(
                [str(c) for c in command],
                capture_output=True,
                text=True,
                check=False,
                timeout=max(1, left),
                preexec_fn=die_with_parent,
            )
        except subprocess.TimeoutExpired as error:
            raise Failure(f"not done after {LONGEST} seconds: {' '.join(map(str, command))}") from error
        except OSError as error:
            raise Failure(f"{command[0]}: {error.strerror}") from error
        if done.returncode != 0:
            raise Failure(f"exit code {done.returncode} of: {' '.join(map(str, command))}: {done.stderr.strip()}")
        return done.stdout


def check_machine(where):
    if os.geteuid() != 0:
        raise Skip("not root")
    for tool in ("unshare", "losetup", "mkfs.btrfs", "mount", "umount", "compsize"):
        if shutil.which(tool) is None:
            raise Skip(f"no {tool} (packages btrfs-progs, btrfs-compsize, mount)")
    if not os.path.exists("/dev/loop-control"):
        raise Skip("no loop devices")
    free = shutil.disk_usage(where).free
    if free < NEEDED_BYTES:
        raise Skip(f"{where}: {free >> 20} MiB free, {NEEDED_BYTES >> 20} needed")


def enter_namespace():
    """Continues in a mount namespace of its own."""
    if os.environ.get(INSIDE) == str(os.getpid()):
        return
    os.environ[INSIDE] = str(os.getpid())  # exec keeps it
    command = ["unshare", "--mount", "--propagation", "private", "--"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode != 0:
        raise Skip("no mount namespaces")
    os.execvp(command[0], [*command, sys.executable, *sys.argv])


def mount(run, directory):
    """The place where a new btrfs is mounted."""
    image, place = directory / "image", directory / "mounted"
    with open(image, "wb") as f:
        f.truncate(IMAGE_BYTES)
    place.mkdir()
    try:
        run("mkfs.btrfs", "--quiet", image)
        # The loop device is deleted with the mount, and then its part of the image.
        run("mount", "-t", "btrfs", "-o", "loop,compress-force=zstd", image, place)
        image.unlink()
    except Failure as failure:
        raise Skip(f"btrfs cannot be mounted: {failure}") from failure
    return place


def space(run, *directories):
    """(bytes on the disk, before compression, with what is shared counted each time)"""
    run("sync", "-f", directories[0])
    total = next(line for line in run("compsize", "-b", *directories).splitlines() if line.startswith("TOTAL"))
    return [int(n) for n in total.split()[2:5]]


def report(what, figures, user_bytes):
    disk, uncompressed, referenced = figures
    print(
        f"  {what}: {disk / 2**20:.1f} MiB on the disk, {disk / user_bytes:.2f} of the user's bytes; "
        f"{uncompressed / 2**20:.1f} MiB before compression, {referenced / 2**20:.1f} MiB referenced",
        flush=True,
    )


def life(run, args, place, options):
    """One database, from filling to rewriting."""
    db, copy, backup = place / "db", place / "checkpoint", place / "backup"
    command = [args.check, f"--db={db}", f"--checkpoint={copy}", f"--backup={backup}"]
    command += [f"--preset={args.preset}", f"--records={args.records}"]
    command += [f"--options={options}"] if options else []
    user_bytes = args.records * USER_BYTES
    run(*command, "--phase=fill")
    filled = space(run, db)
    report("filled", filled, user_bytes)
    run(*command, "--phase=checkpoint")
    shared = space(run, db, copy)
    report("with a checkpoint", shared, user_bytes)
    run(*command, "--phase=rewrite")
    report("rewritten, with the checkpoint", space(run, db, copy), user_bytes)
    rewritten = space(run, db)
    run(*command, "--phase=backup")
    backed_up = space(run, db, backup)
    report("rewritten, with a backup", backed_up, user_bytes)
    run(*command, "--phase=restore")
    if args.preset == "tableless" and backed_up[0] > 1.25 * rewritten[0]:
        raise Failure(f"the backup does not share pages: {rewritten[0]} bytes on the disk became {backed_up[0]}")
    if filled[0] >= 0.8 * filled[1]:
        raise Failure(f"nothing was compressed: {filled[0]} of {filled[1]} bytes")
    if shared[0] > 1.25 * filled[0]:
        raise Failure(f"the checkpoint does not share its files: {filled[0]} bytes on the disk became {shared[0]}")
    for directory in (db, copy, backup):
        shutil.rmtree(directory)


def test(run, args, directory):
    place = mount(run, directory)
    try:
        # Only the table-less store has pages.
        if args.preset != "tableless":
            print(f"preset {args.preset}")
            life(run, args, place, "")
            return
        for kib in PAGES_KIB:
            print(f"pages of {kib} KiB")
            life(run, args, place, f"table_factory={{tableless_page_bytes={kib << 10}}}")
    finally:
        subprocess.run(["umount", "--lazy", str(place)], capture_output=True, check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", type=Path, help="the program compressed_fs_check")
    parser.add_argument("--preset", default="tableless")
    parser.add_argument("--records", type=int, default=100_000, help="of 416 bytes")
    args = parser.parse_args()
    where = os.environ.get("COMPASSDB_TEST_DIR") or tempfile.gettempdir()
    # Ends by an exception, so that everything is cleared away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        check_machine(where)
        enter_namespace()
        with tempfile.TemporaryDirectory(prefix="btrfs_test-", dir=where) as directory:
            test(Runner(), args, Path(directory))
    except Skip as reason:
        print(f"SKIPPED: {reason}")
        return SKIPPED
    except Failure as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
