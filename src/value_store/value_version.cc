// SPDX-License-Identifier: Apache-2.0
#include "value_store/value_version.h"

#include <algorithm>
#include <unordered_set>

#include "table/io_limits.h"
#include "table/read_stats.h"
#include "util/compression.h"
#include "util/heap_bytes.h"
#include "value_store/value_cache.h"
#include "value_store/value_ref.h"

namespace compassdb {

ValueVersion::ValueVersion(std::shared_ptr<const ValueContext> context,
                           std::vector<ValueRunRef> runs)
    : context_(std::move(context)), runs_(std::move(runs)) {
  for (const ValueRunRef& run : runs_) {
    bits_ = std::max(bits_, run->meta().group.bits);
    total_bytes_ += run->meta().extent.length;
  }
  if (runs_.empty()) return;
  by_group_.resize(size_t{1} << bits_);
  for (const ValueRunRef& run : runs_) {
    if (run->meta().num_values == 0) continue;
    const ValueGroup& group = run->meta().group;
    const uint32_t shift = bits_ - group.bits;
    for (uint32_t i = group.prefix << shift; i < (group.prefix + 1) << shift; ++i) {
      by_group_[i].push_back(run.get());
    }
  }
  for (auto& group : by_group_) {
    std::sort(group.begin(), group.end(), [](const ValueRun* a, const ValueRun* b) {
      return a->meta().min_number < b->meta().min_number;
    });
  }
  for (const Group& group : Groups()) dead_bytes_ += group.dead_bytes;
}

Status ValueVersion::Read(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                          const Slice& ref, rocksdb::PinnableSlice* value) const {
  ValueRef parsed;
  if (!parsed.Parse(ref)) {
    return Status::Corruption("malformed reference to a separated value",
                              user_key.ToString(/*hex=*/true));
  }
  if (context_->cache != nullptr) {
    if (FindCachedValue(*context_, parsed.number, value)) return Status::OK();
  }
  if (!by_group_.empty()) {
    const auto& group = by_group_[bits_ == 0 ? 0 : hash.h1 >> (64 - bits_)];
    auto run = std::upper_bound(group.begin(), group.end(), parsed.number,
                                [](uint64_t number, const ValueRun* r) {
                                  return number < r->meta().min_number;
                                });
    while (run != group.begin()) {
      --run;
      bool found = false;
      ValueRun::Place place;
      Status s = (*run)->Find(parsed.number, read.cache_only, &found, &place);
      if (!s.ok()) return s;
      if (found) return ReadFromRun(read, **run, place, user_key, parsed.number, parsed.size, value);
    }
  }
  return Status::NotFound("separated value " + std::to_string(parsed.number));
}

Status ValueVersion::ReadFromRun(const BlockReadOptions& read, const ValueRun& run,
                                 const ValueRun::Place& place, const Slice& user_key,
                                 uint64_t number, uint32_t size,
                                 rocksdb::PinnableSlice* value) const {
  if (read.cache_only) return Status::Incomplete("value is not in memory, and no file may be read");
  IoTimer timer(read.limits);
  Status s = timer.Begin();
  if (!s.ok()) return s;
  // Read into the result itself: uncompressed, its value is then a part of that.
  std::string* const room = value->GetSelf();
  Slice record;
  s = run.ReadRecord(place, read.verify_checksums, room, &record);
  if (s.ok()) s = timer.End();
  if (!s.ok()) return s;
  rocksdb::Statistics* const statistics = context_->tables->options.statistics;
  Tick(statistics, rocksdb::BLOB_DB_BLOB_FILE_BYTES_READ, place.size);
  if (rocksdb::PerfContext* perf = PerfCounters()) {
    ++perf->blob_read_count;
    perf->blob_read_byte += place.size;
  }
  ParsedValueRecord parsed;
  if (!ParseValueRecord(record, &parsed) || parsed.number != number || parsed.user_key != user_key) {
    return Status::Corruption(context_->tables->files->PathOf(run.meta().extent.file_number),
                              "value run " + std::to_string(run.meta().run_id) + ": record at " +
                                  std::to_string(place.offset) + " is of another value or key");
  }
  if (parsed.compression == rocksdb::kNoCompression) {
    const size_t offset = static_cast<size_t>(parsed.stored.data() - room->data());
    room->erase(0, offset);
    value->PinSelf();
  } else {
    std::string plain;
    s = Decompress(parsed.compression, parsed.stored, size, &plain);
    if (!s.ok()) {
      return Status::Corruption(context_->tables->files->PathOf(run.meta().extent.file_number),
                                "value of " + std::to_string(size) + " bytes: " + s.ToString());
    }
    room->swap(plain);
    value->PinSelf();
  }
  if (value->size() != size) {
    return Status::Corruption(context_->tables->files->PathOf(run.meta().extent.file_number),
                              "value run " + std::to_string(run.meta().run_id) +
                                  ": a value has another size than its table says");
  }
  if (context_->cache != nullptr && read.fill_cache) KeepValue(*context_, number, *value);
  return s;
}

std::vector<ValueVersion::Group> ValueVersion::Groups() const {
  std::vector<Group> groups;
  if (runs_.empty()) return groups;
  // The widest run over each of the finest groups says how far what it shares keys with reaches.
  std::vector<ValueGroup> widest(size_t{1} << bits_);
  for (uint32_t i = 0; i < widest.size(); ++i) widest[i] = {i, bits_};
  for (const ValueRunRef& run : runs_) {
    const ValueGroup& group = run->meta().group;
    const uint32_t shift = bits_ - group.bits;
    for (uint32_t i = group.prefix << shift; i < (group.prefix + 1) << shift; ++i) {
      if (group.bits < widest[i].bits) widest[i] = group;
    }
  }
  std::vector<uint32_t> index(widest.size());
  for (uint32_t i = 0; i < widest.size(); ++i) {
    if (groups.empty() || !(groups.back().group == widest[i])) groups.push_back({widest[i]});
    index[i] = static_cast<uint32_t>(groups.size() - 1);
  }
  for (const ValueRunRef& run : runs_) {
    const ValueRunMeta& meta = run->meta();
    Group& group = groups[index[meta.group.prefix << (bits_ - meta.group.bits)]];
    group.bytes += meta.extent.length;
    group.dead_bytes += meta.dead_hint;
    group.newest = std::max(group.newest, meta.creation_time);
  }
  std::erase_if(groups, [](const Group& g) { return g.bytes == 0; });
  for (Group& g : groups) g.dead_bytes = std::min(g.dead_bytes, g.bytes);
  return groups;
}

std::vector<ValueRunRef> ValueVersion::RunsOf(const ValueGroup& group) const {
  std::vector<ValueRunRef> result;
  for (const ValueRunRef& run : runs_) {
    if (group.Overlaps(run->meta().group)) result.push_back(run);
  }
  return result;
}

ValueStats ValueVersion::Stats() const {
  ValueStats stats;
  std::unordered_set<uint64_t> files;
  for (const ValueRunRef& run : runs_) {
    const ValueRunMeta& meta = run->meta();
    ++stats.runs;
    files.insert(meta.extent.file_number);
    stats.values += meta.num_values;
    stats.raw_bytes += meta.raw_bytes;
  }
  stats.files = files.size();
  stats.total_bytes = total_bytes_;
  stats.dead_bytes = dead_bytes_;
  return stats;
}

size_t ValueVersion::MemoryBytes() const {
  size_t bytes = HeapBytes(sizeof(*this) + kSharedControlBytes) + HeapBytes(runs_) + HeapBytes(by_group_);
  for (const auto& group : by_group_) bytes += HeapBytes(group);
  for (const ValueRunRef& run : runs_) bytes += run->MemoryBytes();
  return bytes;
}

}  // namespace compassdb
