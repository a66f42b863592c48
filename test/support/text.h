// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace compassdb_test {

uint64_t HashBytes(std::string_view data, uint64_t seed = 0);

// Printable form: text as it is, other bytes as \xNN; a long one is cut to its
// head, its length and its hash, so that a transcript line stays readable.
std::string Show(std::string_view data);
std::string Hex(std::string_view data);

// The status as transcripts have it: code and subcode, without the message
// (messages name paths and differ between engines).
std::string ShowCode(const rocksdb::Status& status);

}  // namespace compassdb_test
