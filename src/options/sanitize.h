// SPDX-License-Identifier: Apache-2.0
// What happens to options at open, in this order: they are brought into range
// (Sanitize*), checked (ValidateOptions), and what has no effect is named in
// LOG (WarnAboutHints). Options of a created family and those that SetOptions changed go the same
// way, but combinations that RocksDB's table format cannot have are refused only at open, as in RocksDB.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "options/option_text.h"
#include "rocksdb/options.h"

namespace compassdb {

struct NamedFamilyOptions {
  std::string name;
  rocksdb::ColumnFamilyOptions options;
};

// Into the ranges that RocksDB 7.8.3 brings them to.
rocksdb::DBOptions SanitizeDbOptions(const rocksdb::DBOptions& options);
rocksdb::ColumnFamilyOptions SanitizeFamilyOptions(const rocksdb::DBOptions& db,
                                                   const rocksdb::ColumnFamilyOptions& options);

// NotSupported for an option that is refused (option_info.h), InvalidArgument for options that
// contradict each other; the message names the option and the column family.
Status ValidateDbOptions(const rocksdb::DBOptions& options);
Status ValidateFamilyOptions(const rocksdb::DBOptions& db, const NamedFamilyOptions& family);
Status ValidateOptions(const rocksdb::DBOptions& db, const std::vector<NamedFamilyOptions>& families);

// One line, with the reason, per option that is set and has no effect.
std::vector<std::string> HintWarnings(const rocksdb::DBOptions& db,
                                      const std::vector<NamedFamilyOptions>& families);
void WarnAboutHints(rocksdb::Logger* log, const rocksdb::DBOptions& db,
                    const std::vector<NamedFamilyOptions>& families);

// SetOptions and SetDBOptions: InvalidArgument (families) or NotFound (database) for names that
// do not exist or cannot change, NotSupported for refused values. *options changes as a whole
// or not at all.
Status ApplyMutableFamilyOptions(const std::string& family, const rocksdb::DBOptions& db,
                                 const OptionMap& changes, rocksdb::ColumnFamilyOptions* options);
Status ApplyMutableDbOptions(const OptionMap& changes, rocksdb::DBOptions* options);

// Whether a change of the option has an effect on the engine; false for hints.
bool FamilyOptionHasEffect(const std::string& name);
bool DbOptionHasEffect(const std::string& name);

}  // namespace compassdb
