// SPDX-License-Identifier: Apache-2.0
#include "table/block/point_block.h"

#include "table/read_stats.h"
#include "table/stat_timer.h"

namespace compassdb {

PointBlock::~PointBlock() {
  if (unpacked_ != nullptr) unpacked_->Free();
}

Status PointBlock::Read(const BlockLoader& loader, const BlockPlace& place,
                        const BlockReadOptions& read) {
  IoTimer timer(read.limits);
  if (Status s = timer.Begin(); !s.ok()) return s;
  const RandomAccessFile* const file = place.file->file();
  const size_t alignment = file->ReadAlignment();
  char* const room = room_.Reserve(alignment, place.length + 2 * alignment);
  if (room == nullptr) return Status::MemoryLimit("no memory for a data block");
  const StatTimer micros(loader.statistics(), BlockReadHistogram(read));
  Slice stored;
  Status s;
  {
    const StatTimer of_file(loader.statistics(), rocksdb::SST_READ_MICROS);
    PerfTimer perf(&rocksdb::PerfContext::block_read_time);
    s = file->ReadWithin(place.offset, place.length, &stored, room);
  }
  CountBlockRead(place.length);
  if (read.verify_checksums) Tick(loader.statistics(), rocksdb::BLOCK_CHECKSUM_COMPUTE_COUNT);
  rocksdb::CompressionType type = rocksdb::kNoCompression;
  if (s.ok()) s = LoadedBlock::Check(place, stored, read.verify_checksums, &type);
  if (!s.ok()) return s;
  if (type != rocksdb::kNoCompression) {
    s = LoadedBlock::Decode(place, stored, /*verify_checksum=*/false, loader.allocator(),
                            loader.statistics(), &unpacked_);
    if (!s.ok()) return s;
    block_ = unpacked_->block();
    payload_ = unpacked_->payload();
  } else {
    payload_ = Slice(stored.data(), stored.size() - kBlockTrailerBytes);
    if (!Block::Parse(payload_, &block_)) return BlockCorruption(place, "malformed header");
  }
  return timer.End();
}

}  // namespace compassdb
