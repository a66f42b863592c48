// SPDX-License-Identifier: Apache-2.0
// The OPTIONS-NNNNNN file, in RocksDB's format:
//
//   file     = { line }
//   line     = [ space ] ( section | name "=" value | "" ) [ "#" comment ]
//   section  = "[Version]" | "[DBOptions]" | "[CFOptions \"" family "\"]"
//            | "[TableOptions/" factory " \"" family "\"]"
//
// [Version] and [DBOptions] come first and once; the first family is
// "default"; a [TableOptions] section follows the [CFOptions] of its family. In
// names of families and in values "\#" stands for "#", as in option_text.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "options/option_info.h"
#include "options/sanitize.h"

namespace compassdb {

std::string FormatOptionsFile(const rocksdb::DBOptions& db,
                              const std::vector<NamedFamilyOptions>& families);

// `name` is for messages. Options that the text does not name keep the defaults of RocksDB.
Status ParseOptionsFile(const ConfigOptions& config, const std::string& name,
                        const std::string& text, rocksdb::DBOptions* db,
                        std::vector<NamedFamilyOptions>* families);

// By column family and option: the text of each object, as in the file. ParseOptionsFile skips objects
// of a client's own classes, which only the client can create.
using ObjectTexts = std::map<std::string, OptionMap>;
Status StoredObjects(const std::string& name, const std::string& text, ObjectTexts* objects);

// The text of an object in the file; it may be a name that a client chose.
std::string EscapeObjectText(const std::string& text);

// The text without directories outside of the database's own, for a copy: those are the original's.
std::string OptionsOfCopy(const std::string& text);

// Writes OPTIONS-<number> into `dir` (temporary file, sync, rename, sync of the directory), then
// deletes all earlier ones but the last, unless `keep_all`. Those below `first_number` are foreign, and stay.
Status WriteOptionsFile(FileSystem* fs, const std::string& dir, uint64_t number,
                        const rocksdb::DBOptions& db,
                        const std::vector<NamedFamilyOptions>& families, bool keep_all = false,
                        uint64_t first_number = 0);

}  // namespace compassdb
