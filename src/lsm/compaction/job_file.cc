// SPDX-License-Identifier: Apache-2.0
#include "lsm/compaction/job_file.h"

#include <algorithm>

#include "format/user_timestamp.h"

namespace compassdb {

void ReportValueFile(const JobFile& file, const VersionEdit& edit, JobReport* report) {
  if (!file.created()) return;
  uint64_t values = 0;
  for (const ValueRunMeta& run : edit.added_values) {
    if (run.extent.file_number == file.number()) values += run.num_values;
  }
  report->value_files.push_back({file.number(), file.path(), values, file.bytes()});
  report->bytes_written += file.bytes();
}

Status JobFiles::Finish(VersionEdit* edit, JobReport* report) {
  Status s = values.Finish(edit);
  if (s.ok()) s = tables.Finish(edit);
  if (!s.ok()) return s;
  ReportValueFile(values, *edit, report);
  if (tables.created()) report->AddFile(tables.number(), tables.path(), tables.bytes());
  return s;
}

namespace {

// Least-significant-digit radix sort by the upper 32 bits of h1, which leaves
// runs that are nearly always of one entry.
void RadixSortByHash(std::vector<DirectoryEntry>* entries) {
  std::vector<DirectoryEntry> other(entries->size());
  std::vector<DirectoryEntry>* from = entries;
  std::vector<DirectoryEntry>* to = &other;
  for (int shift = 32; shift < 64; shift += 8) {
    size_t count[257] = {};
    for (const DirectoryEntry& e : *from) count[((e.h1 >> shift) & 0xff) + 1]++;
    for (int i = 0; i < 256; ++i) count[i + 1] += count[i];
    for (const DirectoryEntry& e : *from) (*to)[count[(e.h1 >> shift) & 0xff]++] = e;
    std::swap(from, to);
  }
}

bool Before(const DirectoryEntry& a, const DirectoryEntry& b) {
  if (a.h1 != b.h1) return a.h1 < b.h1;
  if (a.h2 != b.h2) return a.h2 < b.h2;
  return a.piece > b.piece;
}

}  // namespace

void SortEntries(std::vector<DirectoryEntry>* entries) {
  if (std::is_sorted(entries->begin(), entries->end(), Before)) {
    // A piece in hash order, by itself.
  } else if (entries->size() < 256) {
    std::sort(entries->begin(), entries->end(), Before);
  } else {
    RadixSortByHash(entries);
    for (auto it = entries->begin(); it != entries->end();) {
      auto end = std::next(it);
      while (end != entries->end() && end->h1 >> 32 == it->h1 >> 32) ++end;
      if (end - it > 1) std::sort(it, end, Before);
      it = end;
    }
  }
}

perfect_hash::BuildOptions FunctionOptions(const StoreContext& context,
                                             const StoreOptions& options) {
  perfect_hash::BuildOptions function;
  function.kind = options.perfect_hash;
  function.seed = context.hasher.seed();
  function.threads = options.perfect_hash_threads;
  return function;
}

Status WriteTableDirectory(std::span<const DirectoryEntry> entries, uint32_t fingerprints,
                           const perfect_hash::BuildOptions& function, JobFile* file,
                           TphMeta* meta) {
  std::string bytes;
  if (!BuildDirectory(entries, meta->pieces.size(), fingerprints, function, &bytes)) {
    return Status::NotSupported("table directory", "too many keys or pieces for the format");
  }
  CompactionFileWriter* writer = nullptr;
  Status s = file->Writer(&writer);
  if (s.ok()) s = WriteDirectory(writer, bytes, &meta->directory);
  if (!s.ok()) return s;
  meta->directory_file_id = writer->file_id();
  meta->num_keys = entries.size();
  file->Throttle();
  return Status::OK();
}

PieceBuildOptions PieceOptions(const StoreContext& context, const StoreOptions& options,
                               const FilterPlace& place) {
  PieceBuildOptions build;
  build.comparator = options.comparator;
  build.hasher = context.hasher;
  build.statistics = context.statistics;
  build.block_size = options.block_size;
  build.block_size_deviation = options.block_size_deviation;
  build.data_order = options.data_order;
  build.function = FunctionOptions(context, options);
  build.hash_list = !options.filter_index;
  const auto at = static_cast<size_t>(place.level);
  if (at < options.compression.size()) build.compression = options.compression[at];
  build.compression_level = options.compression_level;
  build.filter = &options.filter;
  build.filter_place = place;
  if (!options.collectors.empty()) {
    build.collectors = &options.collectors;
    build.collector_context.column_family_id = options.column_family_id;
    build.collector_context.level_at_creation = place.level;
    build.log = context.log_info;
  }
  return build;
}

Status WriteOnePieceTable(const StoreContext& context, const StoreOptions& options,
                          const PieceMeta& piece, const PieceHashes& hashes,
                          const std::vector<RangeTombstone>& tombstones, uint32_t fingerprints,
                          JobFile* file, TphMeta* meta) {
  meta->tph_id = context.new_number();
  ExtendBounds(options.comparator, piece, tombstones, /*first=*/true, meta);
  meta->pieces.push_back({std::make_shared<const PieceMeta>(piece), piece.num_keys});
  if (options.filter_index) {
    meta->num_keys = piece.num_keys;
    file->Throttle();
    return Status::OK();
  }
  std::vector<DirectoryEntry> entries(hashes.h1.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i] = {hashes.h1[i], hashes.h2[i], 0};
  }
  SortEntries(&entries);
  return WriteTableDirectory(entries, fingerprints, FunctionOptions(context, options), file,
                             meta);
}

void ExtendBounds(const Comparator* cmp, const PieceMeta& piece,
                  const std::vector<RangeTombstone>& tombstones, bool first, TphMeta* meta) {
  const auto extend = [&](const Slice& low, const Slice& high, bool exclusive) {
    if (first || cmp->Compare(low, meta->smallest) < 0) meta->smallest = low.ToString();
    const int c = first ? 1 : cmp->Compare(high, meta->largest);
    if (c > 0) {
      meta->largest = high.ToString();
      meta->largest_exclusive = exclusive;
    } else if (c == 0 && !exclusive) {
      meta->largest_exclusive = false;
    }
    first = false;
  };
  if (first) {
    meta->smallest_seq = piece.smallest_seq;
    meta->largest_seq = piece.largest_seq;
  }
  meta->smallest_seq = std::min(meta->smallest_seq, piece.smallest_seq);
  meta->largest_seq = std::max(meta->largest_seq, piece.largest_seq);
  if (piece.num_records > 0) {
    const size_t timestamp_size = cmp->timestamp_size();
    if (timestamp_size == 0) {
      extend(piece.smallest, piece.largest, false);
    } else {  // whole keys, so that all versions of a key are in one table of a level
      extend(BeforeAllTimes(StripTimestamp(piece.smallest, timestamp_size), timestamp_size),
             BehindAllTimes(StripTimestamp(piece.largest, timestamp_size), timestamp_size), false);
    }
  }
  for (const RangeTombstone& t : tombstones) extend(t.start, t.end, true);
}

}  // namespace compassdb
