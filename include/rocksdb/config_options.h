// SPDX-License-Identifier: Apache-2.0
//
// How option strings are read, written and compared. Part of rocksdb/convenience.h; a header of its
// own so that comparators and the like can be made from strings without knowing the database's
// options.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

class ObjectRegistry;
struct DBOptions;

struct ConfigOptions {
  ConfigOptions();
  // Takes env and file_readahead_size from the options of a database.
  explicit ConfigOptions(const DBOptions&);

  // How strictly two sets of options are compared.
  enum SanityLevel : unsigned char {
    kSanityLevelNone = 0x01,
    // Differences that cannot harm the data are allowed.
    kSanityLevelLooselyCompatible = 0x02,
    kSanityLevelExactMatch = 0xFF,
  };

  // How much of nested objects is written.
  enum Depth {
    kDepthDefault,   // as each option says
    kDepthShallow,   // only the names of nested objects
    kDepthDetailed,  // everything
  };

  // Unknown names are skipped; otherwise they are an error.
  bool ignore_unknown_options = false;
  // An object that this build cannot make is left as it was; otherwise it is an error.
  bool ignore_unsupported_options = true;
  // '\' escapes the next character of a value.
  bool input_strings_escaped = true;
  // Configuring ends with PrepareOptions().
  bool invoke_prepare_options = true;
  // Only what can change while the database is open is looked at.
  bool mutable_options_only = false;
  // Between options when writing.
  std::string delimiter = ";";
  Depth depth = Depth::kDepthDefault;
  SanityLevel sanity_level = SanityLevel::kSanityLevelExactMatch;
  // Bytes that are read at once from an options file.
  size_t file_readahead_size = 512 * 1024;
  // Reads the files. Not owned.
  Env* env = Env::Default();
  // Where classes of the application are registered. Null: the process-wide one.
  std::shared_ptr<ObjectRegistry> registry;

  bool IsShallow() const { return depth == Depth::kDepthShallow; }
  bool IsDetailed() const { return depth == Depth::kDepthDetailed; }
  bool IsCheckDisabled() const { return sanity_level == SanityLevel::kSanityLevelNone; }
  bool IsCheckEnabled(SanityLevel level) const {
    return level > SanityLevel::kSanityLevelNone && level <= sanity_level;
  }
};

}  // namespace ROCKSDB_NAMESPACE
