// SPDX-License-Identifier: Apache-2.0
// The data blocks that a batch of point reads needs, loaded together:
// from the block cache, and the rest in one batch of reads over all files. The
// point reads then find them here (BlockReadOptions::blocks) before they search
// the cache, so a batch has the results of single reads.
//
// Thread safety: one thread at a time. Pieces must outlive the set.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "table/block/block_io.h"
#include "table/piece/piece_ref.h"

namespace compassdb {

class BlockSet final : public ReadyBlocks {
 public:
  BlockSet();
  ~BlockSet();
  BlockSet(const BlockSet&) = delete;
  BlockSet& operator=(const BlockSet&) = delete;

  // Once for each Get that will follow. Before Load.
  void Want(PieceRef piece, uint32_t block);
  void Load(const BlockReadOptions& read);
  // False after as many calls as Want had.
  bool Get(uint64_t file_id, uint64_t offset, BlockRef* ref, Status* status) override;
  void Clear();

 private:
  struct Entry {
    PieceRef piece;
    BlockPlace place;  // its file is known only if it is read
    uint64_t file_id = 0;
    uint32_t users = 1;
    LoadedBlock* reading = nullptr;
    std::shared_ptr<CompactionFile> holder;
    BlockRef ref;
    Status status;
  };
  void Read(const BlockReadOptions& read, const std::vector<Entry*>& missing);

  std::vector<Entry> entries_;  // by (file_id, place.offset) after Load
};

}  // namespace compassdb
