// SPDX-License-Identifier: Apache-2.0
// Common part of scan and dump: writes a range of records of one family.
#pragma once

#include <rocksdb/iterator.h>

#include <cstdint>
#include <string>

#include "database.h"
#include "record_writer.h"

namespace compassdb_cli {

struct ScanFlags {
  std::string from, to, prefix;
  bool has_from = false, has_to = false, has_prefix = false;
  uint64_t limit = UINT64_MAX;
  OutputFormat format = OutputFormat::kText;
  bool keys_only = false;
  bool reverse = false;
  bool whole = false;  // a record that is more than its value is refused
};

// kOk, or a message if the record of `family` has columns other than the default one, which is all that value() gives.
int RefuseEntity(const std::string& command, const std::string& family, const rocksdb::Iterator& record);

// Decodes --from, --to and --prefix. False after a message.
bool DecodeRange(const std::string& command, const Globals& globals, ScanFlags* flags);

// Writes the records of the range in key order (or its reverse); their number
// is added to *count. Returns an exit code.
int WriteRange(const std::string& command, const Globals& globals, const ScanFlags& flags,
               Database* database, uint64_t* count);

}  // namespace compassdb_cli
