# SPDX-License-Identifier: Apache-2.0
"""Where tests keep databases: temp_dir.h for scripts."""

import os


def base():
    """$COMPASSDB_TEST_DIR, else /dev/shm if it has a GiB free, else None: the system's."""
    given = os.environ.get("COMPASSDB_TEST_DIR")
    if given is not None:
        return given
    if os.access("/dev/shm", os.W_OK):
        disk = os.statvfs("/dev/shm")
        if disk.f_bavail * disk.f_frsize >= 1 << 30:
            return "/dev/shm"
    return None
