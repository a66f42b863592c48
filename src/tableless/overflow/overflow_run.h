// SPDX-License-Identifier: Apache-2.0
// Records that do not fit their page, and removals of such records: a segment of the overflow store's
// log (KallaxDB 3.2; docs/formats/tableless.md). Of a key's entries the newest counts.
//
//   run := entry* list                 overflow_list.h; older runs have none
//   entry := crc:fixed32 size:fixed32 payload
//   payload := kind:u8 (0 value, 1 entity, 2 removal, 3 unfolded operands) section:varint32 sequence:varint64
//              key_size:varint32 key value
//
// `crc` covers the file's id, the entry's offset in the run and the payload.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "format/key_hash.h"
#include "rocksdb/statistics.h"
#include "tableless/overflow/overflow_list.h"
#include "tableless/page/page_format.h"
#include "tableless/page/page_run.h"

namespace compassdb {

struct OverflowEntry {
  PageRecord record;
  uint32_t section = 0;
  bool removal = false;
};

using OverflowHasher = std::function<KeyHash(const Slice& user_key)>;

inline constexpr size_t kOverflowEntryHeader = 8;

// A place in a run has 32 bits; longer runs are cut. A record that is larger has a run of its own, of less than 4 GiB.
uint64_t MaxOverflowRunBytes();
void TEST_SetMaxOverflowRunBytes(uint64_t bytes);  // in the whole process; 0: the default

// Appends runs to a file. It must be the only writer of the file. One thread.
class OverflowRunWriter {
 public:
  // Assigns ids of runs in Finish: ascending, and above those of existing runs.
  OverflowRunWriter(CompactionFileWriter* file, OverflowHasher hasher, std::function<uint64_t()> new_id)
      : file_(file), hasher_(std::move(hasher)), new_id_(std::move(new_id)), first_(file->offset()), begin_(first_) {}
  // Entries of existing runs whose keys are also added here. Before the first.
  void Replace(OverflowEntryNames names) { list_.replaced = std::move(names); }
  Status Add(const OverflowEntry& entry);
  // Appends the manifest's data of the runs; none if nothing was added.
  Status Finish(std::vector<PageRunMeta>* runs);
  uint64_t count() const { return count_; }
  uint64_t bytes() const { return file_->offset() - first_; }

 private:
  Status EndRun();

  CompactionFileWriter* const file_;
  const OverflowHasher hasher_;
  const std::function<uint64_t()> new_id_;
  const uint64_t first_;
  uint64_t begin_;  // of the current run
  uint64_t count_ = 0;
  OverflowList list_;  // likewise
  std::vector<PageRunMeta> ended_;
  std::string entry_, buffer_;
};

class OverflowRun {
 public:
  OverflowRun(FileCache* files, ExtentLedger* ledger, const PageRunMeta& meta)
      : run_(files, ledger, meta) {}
  PageRun* run() { return &run_; }
  const PageRun* run() const { return &run_; }
  const PageRunMeta& meta() const { return run_.meta(); }

  // The list of its entries, checked. A run without a list is read instead; its names are unknown.
  Status List(const OverflowHasher& hasher, OverflowList* list) const;
  using EntryVisitor = std::function<Status(const OverflowPlace&, const OverflowEntry&)>;
  // All entries in order, checked. Stops at f's error. Damaged entries are skipped if `damaged` is
  // not null; it is called for each.
  Status Scan(const EntryVisitor& f, const std::function<void(const Status&)>& damaged = nullptr) const;
  // Likewise those at these places, ascending.
  Status ReadEach(const std::vector<OverflowPlace>& places, const EntryVisitor& f,
                  const std::function<void(const Status&)>& damaged = nullptr) const;
  // *entry points into `room`.
  Status Read(const OverflowPlace& place, std::string* room, OverflowEntry* entry,
              rocksdb::Statistics* statistics = nullptr) const;
  // The same in two parts: the request to `file`, into place.size bytes; and its result.
  Status Request(const OverflowPlace& place, char* room, ReadRequest* request,
                 std::shared_ptr<CompactionFile>* file) const;
  Status Complete(const OverflowPlace& place, const ReadRequest& request, OverflowEntry* entry) const;

 private:
  // Bytes of the run that were read together.
  struct Window {
    const char* From(uint64_t offset) const { return bytes.data() + (offset - at); }
    uint64_t at = 0;
    std::string room;
    Slice bytes;
  };
  Status Fill(uint64_t at, uint64_t wanted, Window* window) const;
  // From entry to entry, without a list.
  Status Walk(const EntryVisitor& f, const std::function<void(const Status&)>& damaged) const;
  Status Parse(uint64_t offset, const Slice& bytes, OverflowEntry* entry) const;
  PageRun run_;
};

using OverflowRunRef = std::shared_ptr<OverflowRun>;

}  // namespace compassdb
