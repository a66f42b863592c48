// SPDX-License-Identifier: Apache-2.0
#include "wal/wal_synced.h"

#include <algorithm>
#include <memory>

#include "format/file_names.h"
#include "wal/wal_reader.h"

namespace compassdb {

namespace {

// How far a log was synced, by the log itself and the manifest.
Status ReadSynced(FileSystem* fs, const std::string& wal_dir, const SyncedLog& manifest, uint64_t number,
                  std::unique_ptr<WalReader>* reader, uint64_t* synced) {
  if (Status s = WalReader::Open(fs, wal_dir, number, reader); !s.ok()) return s;
  LogRead read = (*reader)->ReadHeader();
  while (read == LogRead::kRecord || read == LogRead::kCorruption) {
    Slice ignored;
    read = (*reader)->ReadBatch(&ignored);
  }
  *synced = (*reader)->synced();
  if (manifest.number == number) *synced = std::max(*synced, manifest.bytes);
  return read == LogRead::kError ? (*reader)->status() : Status::OK();
}

Status Lost(const std::string& path, uint64_t offset, uint64_t synced, const std::string& damage) {
  return Status::Corruption(
      path + " at offset " + std::to_string(offset),
      "the log was synced up to offset " + std::to_string(synced) + ": " + damage);
}

}  // namespace

Status CheckNothingSyncedIsLost(FileSystem* fs, const std::string& wal_dir, const SyncedLog& manifest,
                                const std::vector<uint64_t>& numbers, size_t index, uint64_t end,
                                const std::string& damage) {
  const std::string path = WalFileName(wal_dir, numbers[index]);
  std::unique_ptr<WalReader> reader;
  uint64_t synced = 0;
  if (Status s = ReadSynced(fs, wal_dir, manifest, numbers[index], &reader, &synced); !s.ok()) return s;
  if (synced > end) return Lost(path, end, synced, damage);
  uint64_t whole = 0;  // how long the log is if it is whole
  uint64_t before = numbers[index];
  for (size_t i = index + 1; i < numbers.size(); ++i) {
    if (Status s = ReadSynced(fs, wal_dir, manifest, numbers[i], &reader, &synced); !s.ok()) return s;
    if (!reader->has_header()) {
      if (synced == 0) continue;  // perhaps it never began
      return Lost(reader->path(), 0, synced, "its header cannot be read");
    }
    const WalHeader& header = reader->header();
    if (header.predecessor != before) return Status::OK();
    uint64_t known = 0;
    if (before == numbers[index]) {
      whole = header.predecessor_bytes;
      known = header.predecessor_synced;
    } else if (header.predecessor_synced > 0) {
      known = whole;
    }
    if (synced > 0) known = whole;
    if (known > end) return Lost(path, end, known, damage);
    before = numbers[i];
  }
  return Status::OK();
}

Status CheckSyncedLogIsThere(const std::string& wal_dir, const SyncedLog& synced, uint64_t min_number,
                             const std::vector<uint64_t>& numbers) {
  if (synced.number < min_number || synced.bytes == 0 ||
      std::find(numbers.begin(), numbers.end(), synced.number) != numbers.end()) {
    return Status::OK();
  }
  return Status::Corruption(WalFileName(wal_dir, synced.number),
                            "is missing; it was synced up to offset " +
                                std::to_string(synced.bytes));
}

}  // namespace compassdb
