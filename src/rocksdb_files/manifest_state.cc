// SPDX-License-Identifier: Apache-2.0
#include "rocksdb_files/manifest_state.h"

#include <algorithm>
#include <optional>

#include "rocksdb_files/framed_log.h"
#include "util/coding.h"

namespace compassdb::rocksdb_files {

namespace {

enum EditTag : uint32_t {
  kEditComparator = 1,
  kEditLogNumber = 2,
  kEditNextFile = 3,
  kEditLastSequence = 4,
  kEditCompactCursor = 5,
  kEditDeletedFile = 6,
  kEditNewFile = 7,
  kEditPreviousLog = 9,
  kEditMinLogToKeep = 10,
  kEditNewFile2 = 100,
  kEditNewFile3 = 102,
  kEditNewFile4 = 103,
  kEditFamily = 200,
  kEditFamilyAdd = 201,
  kEditFamilyDrop = 202,
  kEditMaxFamily = 203,
  kEditAtomicGroup = 300,
  kEditBlobFile = 400,
  kEditBlobGarbage = 401,
  // From here on followed by a length, and ignored if not known.
  kEditIgnorable = 1 << 13,
  kEditDatabaseId = kEditIgnorable + 1,
  kEditOldBlobFile = kEditIgnorable + 2,
  kEditOldBlobGarbage = kEditIgnorable + 3,
  kEditOldLogAdded = kEditIgnorable + 4,
  kEditOldLogsDeleted = kEditIgnorable + 5,
  kEditLogAdded = kEditIgnorable + 7,
  kEditLogsDeleted = kEditIgnorable + 8,
};

constexpr uint32_t kFieldEnd = 1;
constexpr uint32_t kFieldMinLogToKeep = 3;
constexpr uint32_t kFieldPath = 65;
constexpr uint32_t kFieldNeeded = 1 << 6;       // of tables: a field that must be known
constexpr uint32_t kBlobFieldEnd = 0;
constexpr uint32_t kBlobFieldNeeded = 1 << 6;
constexpr uint32_t kLogFieldEnd = 1;
constexpr uint32_t kLogFieldSize = 2;
constexpr uint32_t kMostPaths = 3;
constexpr size_t kMostDescriptorName = 4096;

}  // namespace

struct ManifestReplay::Edit {
  uint32_t family = 0;
  bool add = false, drop = false;
  std::string name;
  std::optional<std::string> comparator, database_id;
  std::optional<uint64_t> log_number, next_file, last_sequence, previous_log, min_log_to_keep;
  std::optional<uint32_t> group_left;
  std::vector<uint64_t> deleted;
  std::vector<LiveTable> tables;
  std::vector<LiveBlobFile> blob_files;
  std::vector<std::pair<uint64_t, uint64_t>> blob_garbage;  // number, values
  std::vector<std::pair<uint64_t, uint64_t>> logs;
  std::optional<uint64_t> logs_deleted;

  bool Decode(Slice in);

 private:
  bool DecodeField(uint32_t tag, Slice* in);
  bool DecodeIgnorable(uint32_t tag, Slice* in);
  bool DecodeTable(uint32_t tag, Slice* in);
  bool DecodeTableFields(Slice* in, LiveTable* table);
  bool DecodeBlobFile(Slice* in);
  bool DecodeBlobGarbage(Slice* in);
  bool DecodeLog(Slice* in);
};

namespace {

bool GetNumber(Slice* in, std::optional<uint64_t>* number) {
  uint64_t value;
  if (!GetVarint64(in, &value)) return false;
  *number = value;
  return true;
}

bool GetText(Slice* in, std::optional<std::string>* text) {
  Slice value;
  if (!GetLengthPrefixedSlice(in, &value)) return false;
  *text = value.ToString();
  return true;
}

bool SkipBlobFields(Slice* in) {
  for (;;) {
    uint32_t field;
    Slice value;
    if (!GetVarint32(in, &field)) return false;
    if (field == kBlobFieldEnd) return true;
    if ((field & kBlobFieldNeeded) != 0 || !GetLengthPrefixedSlice(in, &value)) return false;
  }
}

}  // namespace

bool ManifestReplay::Edit::Decode(Slice in) {
  while (!in.empty()) {
    uint32_t tag;
    if (!GetVarint32(&in, &tag)) return false;
    if (!((tag & kEditIgnorable) != 0 ? DecodeIgnorable(tag, &in) : DecodeField(tag, &in))) return false;
  }
  return true;
}

bool ManifestReplay::Edit::DecodeField(uint32_t tag, Slice* in) {
  uint32_t number32;
  uint64_t number;
  Slice text;
  switch (tag) {
    case kEditComparator: return GetText(in, &comparator);
    case kEditLogNumber: return GetNumber(in, &log_number);
    case kEditNextFile: return GetNumber(in, &next_file);
    case kEditLastSequence: return GetNumber(in, &last_sequence);
    case kEditCompactCursor: return GetVarint32(in, &number32) && GetLengthPrefixedSlice(in, &text);
    case kEditDeletedFile:
      if (!GetVarint32(in, &number32) || !GetVarint64(in, &number)) return false;
      deleted.push_back(number);
      return true;
    case kEditNewFile:
    case kEditNewFile2:
    case kEditNewFile3:
    case kEditNewFile4: return DecodeTable(tag, in);
    case kEditPreviousLog: return GetNumber(in, &previous_log);
    case kEditMinLogToKeep: return GetNumber(in, &min_log_to_keep);
    case kEditFamily: return GetVarint32(in, &family);
    case kEditFamilyAdd:
      add = true;
      if (!GetLengthPrefixedSlice(in, &text)) return false;
      name = text.ToString();
      return true;
    case kEditFamilyDrop: drop = true; return true;
    case kEditMaxFamily: return GetVarint32(in, &number32);
    case kEditAtomicGroup:
      if (!GetVarint32(in, &number32)) return false;
      group_left = number32;
      return true;
    case kEditBlobFile: return DecodeBlobFile(in);
    case kEditBlobGarbage: return DecodeBlobGarbage(in);
    default: return false;
  }
}

bool ManifestReplay::Edit::DecodeIgnorable(uint32_t tag, Slice* in) {
  // Four were written without a length.
  if (tag == kEditOldBlobFile) return DecodeBlobFile(in);
  if (tag == kEditOldBlobGarbage) return DecodeBlobGarbage(in);
  if (tag == kEditOldLogAdded) return DecodeLog(in);
  if (tag == kEditOldLogsDeleted) return GetNumber(in, &logs_deleted);
  Slice field;
  if (!GetLengthPrefixedSlice(in, &field)) return false;
  if (tag == kEditDatabaseId) database_id = field.ToString();
  if (tag == kEditLogAdded) return DecodeLog(&field);
  if (tag == kEditLogsDeleted) return GetNumber(&field, &logs_deleted);
  return true;
}

bool ManifestReplay::Edit::DecodeTable(uint32_t tag, Slice* in) {
  LiveTable table;
  uint32_t level;
  Slice smallest, largest;
  if (!GetVarint32(in, &level) || level > INT32_MAX || !GetVarint64(in, &table.number)) return false;
  table.level = static_cast<int>(level);
  if (tag == kEditNewFile3 && !GetVarint32(in, &table.path)) return false;
  if (!GetVarint64(in, &table.size) || !GetLengthPrefixedSlice(in, &smallest) || !GetLengthPrefixedSlice(in, &largest)) {
    return false;
  }
  table.smallest = smallest.ToString();
  table.largest = largest.ToString();
  if (tag != kEditNewFile && (!GetVarint64(in, &table.smallest_sequence) || !GetVarint64(in, &table.largest_sequence))) {
    return false;
  }
  if (tag == kEditNewFile4 && !DecodeTableFields(in, &table)) return false;
  if (table.path > kMostPaths || table.smallest.size() < 8 || table.largest.size() < 8) return false;
  tables.push_back(std::move(table));
  return true;
}

bool ManifestReplay::Edit::DecodeTableFields(Slice* in, LiveTable* table) {
  for (;;) {
    uint32_t field;
    Slice value;
    if (!GetVarint32(in, &field)) return false;
    if (field == kFieldEnd) return true;
    if (!GetLengthPrefixedSlice(in, &value)) return false;
    if (field == kFieldPath) {
      if (value.size() != 1) return false;
      table->path = static_cast<uint8_t>(value[0]);
    } else if (field == kFieldMinLogToKeep) {
      if (value.size() != 8) return false;
      min_log_to_keep = DecodeFixed64(value.data());
    } else if ((field & kFieldNeeded) != 0) {
      return false;
    }
  }
}

bool ManifestReplay::Edit::DecodeBlobFile(Slice* in) {
  LiveBlobFile file;
  Slice method, checksum;
  if (!GetVarint64(in, &file.number) || !GetVarint64(in, &file.values) || !GetVarint64(in, &file.bytes) ||
      !GetLengthPrefixedSlice(in, &method) || !GetLengthPrefixedSlice(in, &checksum) || !SkipBlobFields(in)) {
    return false;
  }
  blob_files.push_back(file);
  return true;
}

bool ManifestReplay::Edit::DecodeBlobGarbage(Slice* in) {
  uint64_t number, values, bytes;
  if (!GetVarint64(in, &number) || !GetVarint64(in, &values) || !GetVarint64(in, &bytes) || !SkipBlobFields(in)) return false;
  blob_garbage.emplace_back(number, values);
  return true;
}

bool ManifestReplay::Edit::DecodeLog(Slice* in) {
  uint64_t number, size = 0;
  if (!GetVarint64(in, &number)) return false;
  for (;;) {
    uint32_t field;
    if (!GetVarint32(in, &field)) return false;
    if (field == kLogFieldEnd) break;
    if (field != kLogFieldSize || !GetVarint64(in, &size)) return false;
  }
  logs.emplace_back(number, size);
  return true;
}

ManifestReplay::ManifestReplay() { state_.families[0].name = "default"; }

Status ManifestReplay::Apply(const Slice& bytes) {
  const Status damaged = Status::Corruption("an edit of the manifest is damaged, or of a newer version");
  Edit edit;
  if (!edit.Decode(bytes)) return damaged;
  if (!edit.group_left) return group_.empty() ? ApplyDecoded(edit) : damaged;
  group_.push_back(bytes.ToString());
  if (*edit.group_left > 0) return Status::OK();
  std::vector<std::string> group;
  group.swap(group_);
  for (const std::string& member : group) {
    Edit one;
    if (!one.Decode(member)) return damaged;
    const Status s = ApplyDecoded(one);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status ManifestReplay::ApplyDecoded(const Edit& edit) {
  if (edit.database_id) state_.database_id = *edit.database_id;
  if (edit.next_file) state_.next_file = *edit.next_file;
  if (edit.last_sequence) state_.last_sequence = *edit.last_sequence;
  if (edit.previous_log) state_.previous_log = *edit.previous_log;
  if (edit.min_log_to_keep) state_.min_log_to_keep = std::max(state_.min_log_to_keep, *edit.min_log_to_keep);
  for (const auto& [number, size] : edit.logs) state_.logs[number] = std::max(state_.logs[number], size);
  if (edit.logs_deleted) state_.logs.erase(state_.logs.begin(), state_.logs.lower_bound(*edit.logs_deleted));
  if (edit.drop) {
    state_.families.erase(edit.family);
    return Status::OK();
  }
  if (edit.add) {
    LiveFamily family;
    family.id = edit.family;
    family.name = edit.name;
    state_.families[edit.family] = std::move(family);
  }
  const auto found = state_.families.find(edit.family);
  if (found == state_.families.end()) return Status::OK();  // of a dropped family
  LiveFamily& family = found->second;
  if (edit.comparator) family.comparator = *edit.comparator;
  if (edit.log_number) family.log_number = *edit.log_number;
  for (const uint64_t number : edit.deleted) family.tables.erase(number);
  for (const LiveTable& table : edit.tables) {
    if (!family.tables.emplace(table.number, table).second) {
      return Status::Corruption("the manifest adds table " + std::to_string(table.number) + " twice");
    }
  }
  for (const LiveBlobFile& file : edit.blob_files) family.blob_files[file.number] = file;
  for (const auto& [number, values] : edit.blob_garbage) {
    const auto file = family.blob_files.find(number);
    if (file == family.blob_files.end() || file->second.values < values) {
      return Status::Corruption("the manifest counts garbage of blob file " + std::to_string(number) + " wrongly");
    }
    file->second.values -= values;
  }
  return Status::OK();
}

Status ReadManifest(FileSystem* fs, const std::string& dir, ManifestState* state, bool* torn) {
  std::string name;
  Status s = ReadFileToString(fs, dir + "/CURRENT", &name, kMostDescriptorName);
  if (!s.ok()) return s;
  if (name.empty() || name.back() != '\n' || name.find('/') != name.npos) return Status::Corruption("CURRENT names no manifest", dir);
  name.pop_back();
  std::unique_ptr<SequentialFile> file;
  s = fs->NewSequentialFile(dir + "/" + name, &file);
  if (!s.ok()) return s;
  FramedLog log(std::move(file), dir + "/" + name, 0);
  ManifestReplay replay;
  Slice edit;
  while (log.Next(&edit)) {
    s = replay.Apply(edit);
    if (!s.ok()) return Status::Corruption(s.getState(), dir + "/" + name);
  }
  if (!log.status().ok()) return log.status();
  *torn = log.torn();
  *state = replay.state();
  if (state->next_file == 0) return Status::Corruption("the manifest is empty", dir + "/" + name);
  return Status::OK();
}

}  // namespace compassdb::rocksdb_files
