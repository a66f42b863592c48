// SPDX-License-Identifier: Apache-2.0
// Folds new versions of a key into the one in its page.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "iter/compaction_iterator.h"
#include "store/store.h"
#include "tableless/page/new_version.h"
#include "tableless/page/page_format.h"

namespace compassdb {

struct KeyOutcome {
  // The new record of the page; none: the key is deleted.
  std::optional<PageRecord> newest;  // unfolded, if merge operands cannot be folded
  // For the key store: versions that held snapshots still see, newest first; types are kTypeWideColumnEntity
  // (for plain values, too: it sorts before a marker of the same sequence) and kTypeDeletion.
  struct OldVersion {
    SequenceNumber sequence;
    ValueType type;
    std::string value;
  };
  std::vector<OldVersion> old_versions;
  SequenceNumber gone_at = 0;  // of the deletion, if the key is deleted

  std::string owned;  // newest->value may point here
};

struct FoldOptions {
  const Comparator* comparator = nullptr;
  std::vector<SequenceNumber> snapshots;  // ascending
  MergeEnv merge;
  const rocksdb::CompactionFilter* filter = nullptr;
};

// The family's filter for a job that rewrites pages; *owned holds one from a factory. Null: none.
const rocksdb::CompactionFilter* PageFilter(const StoreOptions& options, bool manual,
                                            std::unique_ptr<rocksdb::CompactionFilter>* owned);

// `versions` newest first, all newer than `existing` (may be null); together at least one.
Status FoldKey(const FoldOptions& options, const Slice& user_key,
               const std::vector<NewVersion>& versions, const PageRecord* existing,
               KeyOutcome* outcome);

}  // namespace compassdb
