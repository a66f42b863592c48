// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "rocksdb/comparator.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/merge_operator.h"

namespace compassdb_test {

enum class MergeKind { kNone, kAppend, kAdd, kCommands };

// The kind of a column family: fixed for its life, so that it can be reopened.
struct FamilySpec {
  bool reverse_order = false;
  MergeKind merge = MergeKind::kNone;
  bool prefix_extractor = false;  // fixed kPrefixLength
  bool filter = false;            // compaction filter, see MakeFilter
};

constexpr int kPrefixLength = 3;

const rocksdb::Comparator* ComparatorOf(const FamilySpec& spec);
// Null for kNone. kAppend: full merge with PartialMergeMulti (comma-joined,
// the last 200 bytes kept, which is still associative). kAdd: associative,
// little-endian uint64. kCommands: full merge only; operands are commands
// whose order matters and which cannot be combined.
std::shared_ptr<rocksdb::MergeOperator> MergeOperatorOf(MergeKind kind);

// One merge step as the model does it; `base` null when there is none.
std::string MergeStep(MergeKind kind, const std::string* base, const std::string& operand);

// Values that begin with '!' are dropped, those with '?' become '#'. When that
// happens is the engine's choice, so a comparison of results treats a '!' value as
// absent and a '?' value as its '#' form (NormalizeFiltered).
std::shared_ptr<rocksdb::CompactionFilterFactory> MakeFilterFactory();
// False when the value counts as absent.
bool NormalizeFiltered(const FamilySpec& spec, std::string* value);

std::string EncodeNumber(uint64_t number);

}  // namespace compassdb_test
