// SPDX-License-Identifier: Apache-2.0
// A section that is being rehashed, in the order of the master hash: its pages and overflow records. It holds one
// batch of pages at a time, for any number of old pages per new page.
//
// Thread safety: one thread at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tableless/page/page_batch.h"

namespace compassdb {

class OldPages {
 public:
  // `batch`: pages read at a time. `wanted`: only these are needed, ascending; null: all are.
  OldPages(std::shared_ptr<const TablelessView> view, uint32_t section, uint32_t batch,
           std::optional<std::vector<uint64_t>> wanted = std::nullopt);

  // All records with a master hash in [low, high], which ascend from call to call. A record is valid until `f`
  // returns.
  Status ForEach(uint64_t low, uint64_t high, const std::function<Status(const PageRecord&)>& f);

  uint64_t bytes_read() const { return bytes_read_; }
  // The pages read so far that did not count in their section (PageState::Uncounted).
  struct Ahead {
    SequenceNumber folded;
    PageChange change;
  };
  const std::map<uint64_t, Ahead>& ahead() const { return ahead_; }

 private:
  struct Record {
    PageRecord record;
    uint64_t master;
  };
  struct Page {
    std::shared_ptr<PageBatch> batch;  // the memory of the records, or
    std::shared_ptr<PageRoom> room;
    std::vector<Record> records;
  };
  // This page and the next ones.
  Status Load(uint64_t first);

  const std::shared_ptr<const TablelessView> view_;
  const uint32_t section_;
  const uint32_t batch_;
  const std::optional<std::vector<uint64_t>> wanted_;
  std::map<uint64_t, Page> pages_;
  std::vector<std::pair<uint64_t, OverflowIndex::Entry>> overflow_;  // by master hash
  std::string overflow_room_;
  std::map<uint64_t, Ahead> ahead_;
  uint64_t bytes_read_ = 0;
};

}  // namespace compassdb
