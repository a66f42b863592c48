// SPDX-License-Identifier: Apache-2.0
#include "log/log_writer.h"

#include <algorithm>

#include "util/coding.h"
#include "util/string_util.h"

namespace compassdb {

LogWriter::LogWriter(std::unique_ptr<WritableFile> file, std::string path, uint64_t log_number)
    : file_(std::move(file)),
      path_(std::move(path)),
      number_(log_number),
      offset_(file_->Size()) {}

LogWriter::~LogWriter() = default;

Status LogWriter::Check(Status s) {
  if (!s.ok()) failed_ = s;
  return s;
}

Status LogWriter::AddRecord(const Slice& first_part, const Slice& second_part) {
  if (!failed_.ok()) return failed_;
  buffer_.clear();
  Slice head = first_part;
  Slice body = second_part;
  size_t left = head.size() + body.size();
  buffer_.reserve(left + (left / (kLogBlockSize - kLogHeaderSize) + 2) * kLogHeaderSize);
  bool first = true;
  do {
    size_t room = kLogBlockSize - offset_ % kLogBlockSize;
    if (room < kLogHeaderSize) {
      buffer_.append(room, '\0');
      offset_ += room;
      room = kLogBlockSize;
    }
    const size_t n = std::min(left, room - kLogHeaderSize);
    const bool last = n == left;
    const LogFragmentType type = first ? (last ? LogFragmentType::kFull : LogFragmentType::kFirst)
                                       : (last ? LogFragmentType::kLast : LogFragmentType::kMiddle);
    AppendFragment(type, &head, &body, n);
    left -= n;
    first = false;
  } while (left > 0);
  Status s = Check(file_->Append(buffer_));
  ClearBuffer(&buffer_);
  return s;
}

void LogWriter::AppendFragment(LogFragmentType type, Slice* head, Slice* body, size_t n) {
  const size_t start = buffer_.size();
  PutFixed32(&buffer_, 0);
  PutFixed16(&buffer_, static_cast<uint16_t>(n));
  buffer_.push_back(static_cast<char>(type));
  PutFixed32(&buffer_, static_cast<uint32_t>(number_));
  const size_t of_head = std::min(n, head->size());
  buffer_.append(head->data(), of_head);
  head->remove_prefix(of_head);
  buffer_.append(body->data(), n - of_head);
  body->remove_prefix(n - of_head);
  const uint32_t checksum = Checksum32(Slice(buffer_.data() + start + 4, kLogHeaderSize - 4 + n),
                                       LogChecksumContext(number_, offset_));
  EncodeFixed32(buffer_.data() + start, checksum);
  offset_ += kLogHeaderSize + n;
}

Status LogWriter::Flush() { return failed_.ok() ? Check(file_->Flush()) : failed_; }
Status LogWriter::Sync() { return failed_.ok() ? Check(file_->Sync()) : failed_; }

Status LogWriter::Close() {
  Status s = file_->Close();
  if (!failed_.ok()) return failed_;
  failed_ = s.ok() ? Status::IOError("While append: " + path_, "the log is closed") : s;
  return s;
}

}  // namespace compassdb
