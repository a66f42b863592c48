// SPDX-License-Identifier: Apache-2.0
// A process that writes to a database, each write synced and then
// acknowledged on a pipe, until it is killed.
//
// Write number i (from 1) is one batch: package (i - 1) % n gets the value
// CrashValue(i), and the key kCounterKey gets i. So after a crash the counter
// says which writes exist, and each of them must be whole.
#pragma once

#include <rocksdb/db.h>

#include <cstdint>
#include <string>
#include <vector>

namespace package_demo {

inline constexpr char kCounterKey[] = "\x01package-demo/last-write";

std::string CrashValue(uint64_t number);

// The child's part, chosen by this third argument of the program: never
// returns unless a write fails. Acknowledges on standard output.
inline constexpr char kCrashWriterFlag[] = "--write-until-killed";
int RunCrashWriter(const std::string& db, const std::vector<std::string>& names);

// Starts this program again as the child, on `db` and the package file, kills
// it with SIGKILL once `wanted` writes are acknowledged or `seconds` are over,
// and gives the last number acknowledged, 0 if none was.
uint64_t RunAndKill(const std::string& db, const std::string& file, uint64_t wanted,
                    double seconds);

// Checks the reopened database. Returns the error; empty: none.
// *found is the number of the last write that exists.
std::string CheckAfterCrash(rocksdb::DB* db, const std::vector<std::string>& names,
                            uint64_t acknowledged, uint64_t* found);

}  // namespace package_demo
