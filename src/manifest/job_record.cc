// SPDX-License-Identifier: Apache-2.0
// docs/formats/compaction_file.md
#include "manifest/job_record.h"

#include "format/format_version.h"
#include "util/coding.h"
#include "util/hash.h"

namespace compassdb {
namespace {

constexpr size_t kRecordTail = 32;

constexpr size_t kCheckedTail = kRecordTail - 12;  // its part before the checksum

// `checked`: the edits, and the tail up to the checksum.
uint32_t RecordChecksum(uint64_t file_id, const Slice& checked) {
  return Checksum32(checked, MixContext(file_id, kJobRecordFormat.magic));
}

// Empty: the file has none. `scratch` has kRecordTail bytes.
Status ReadTail(const CompactionFile& file, char* scratch, Slice* tail) {
  tail->clear();
  if (file.size() < kRecordTail) return Status::OK();
  Status s = file.file()->Read(file.size() - kRecordTail, kRecordTail, tail, scratch);
  if (!s.ok() || tail->size() != kRecordTail || DecodeFixed64(tail->data() + 24) != kJobRecordFormat.magic) tail->clear();
  return s;
}

}  // namespace

Status AppendJobRecord(const JobRecord& record, CompactionFileWriter* file) {
  std::vector<VersionEdit> edits(2);
  edits[0].next_number = record.order;
  edits[0].column_family = record.job.column_family;
  edits[0].deleted = record.live;
  edits[0].deleted_values = record.writing;
  edits[1] = record.job;
  edits.insert(edits.end(), record.state.begin(), record.state.end());
  std::string bytes;
  EncodeEdits(edits, &bytes);
  const uint64_t length = bytes.size();
  PutFixed64(&bytes, file->offset());
  PutFixed64(&bytes, length);
  PutFixed32(&bytes, kJobRecordFormat.current);
  PutFixed32(&bytes, RecordChecksum(file->file_id(), bytes));
  PutFixed64(&bytes, kJobRecordFormat.magic);
  return file->Append(bytes);
}

Status ReadJobRecord(const CompactionFile& file, bool* found, JobRecord* record) {
  *found = false;
  char scratch[kRecordTail];
  Slice tail;
  Status s = ReadTail(file, scratch, &tail);
  if (!s.ok() || tail.empty()) return s;
  const uint32_t version = DecodeFixed32(tail.data() + 16);
  if (!CanReadVersion(kJobRecordFormat, version)) {
    return Status::NotSupported(file.path(), "job record version " + std::to_string(version) + " is not known to this release");
  }
  const uint64_t offset = DecodeFixed64(tail.data());
  const uint64_t length = DecodeFixed64(tail.data() + 8);
  if (offset > file.size() - kRecordTail || length != file.size() - kRecordTail - offset) return s;
  std::string room(length + kCheckedTail, '\0');
  Slice checked;
  s = file.file()->Read(offset, room.size(), &checked, room.data());
  if (!s.ok()) return s;
  EditRecord edits;
  if (checked.size() != room.size() ||
      !ChecksumHolds(DecodeFixed32(tail.data() + 20), RecordChecksum(file.file_id(), checked)) ||
      !edits.Open(Slice(checked.data(), length)).ok() || edits.size() < 3) {
    return s;
  }
  *record = JobRecord();
  size_t i = 0;
  for (VersionEdit& edit : edits) {
    if (i == 0) {
      record->order = edit.next_number.value_or(0);
      record->live = std::move(edit.deleted);
      record->writing = std::move(edit.deleted_values);
    } else if (i == 1) {
      record->job = std::move(edit);
    } else {
      record->state.push_back(std::move(edit));
    }
    ++i;
  }
  *found = true;
  return s;
}

std::optional<uint64_t> EndOfExtents(const CompactionFile& file) {
  char scratch[kRecordTail];
  Slice tail;
  if (!ReadTail(file, scratch, &tail).ok()) return std::nullopt;
  if (tail.empty()) return file.size();
  if (!CanReadVersion(kJobRecordFormat, DecodeFixed32(tail.data() + 16))) return std::nullopt;
  const uint64_t offset = DecodeFixed64(tail.data());
  return offset <= file.size() - kRecordTail ? std::optional(offset) : std::nullopt;
}

}  // namespace compassdb
