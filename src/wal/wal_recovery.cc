// SPDX-License-Identifier: Apache-2.0
#include "wal/wal_recovery.h"

#include <algorithm>
#include <memory>
#include <set>

#include "env/missing.h"
#include "format/file_names.h"
#include "wal/wal_reader.h"
#include "wal/wal_synced.h"

namespace compassdb {

namespace {

using Mode = WalRecoveryMode;

class Recovery {
 public:
  Recovery(FileSystem* fs, const WalRecoveryOptions& options, const WalRecordCallback& callback,
           WalRecoveryReport* report)
      : fs_(fs), options_(options), callback_(callback), report_(report) {}

  Status Run(const std::vector<uint64_t>& numbers) {
    numbers_ = &numbers;
    if (Status s = CheckSyncedLogIsThere(options_.wal_dir, options_.synced, options_.min_number, numbers); !s.ok()) {
      report_->problems.push_back(s.ToString());
      if (!Is(Mode::kSkipAnyCorruptedRecords)) return s;
    }
    for (size_t i = 0; i < numbers.size() && !report_->stopped_early; ++i) {
      if (Status s = ReplayLog(numbers[i]); !s.ok()) return s;
      if (empty_.count(numbers[i]) == 0) before_ = numbers[i];
    }
    // The last log is torn and nothing follows: that is where replay ended.
    return damaged_ && !report_->stopped_early ? StopBehind(previous_number_, previous_end_, damage_)
                                               : Status::OK();
  }

 private:
  bool Is(Mode mode) const { return options_.mode == mode; }
  // Both know what was synced, so an unsynced hole is no corruption for them. They leave out the logs
  // after a log that lost its tail, so that no write survives if an earlier one is lost.
  bool StopsAtHoles() const {
    return Is(Mode::kPointInTimeRecovery) || Is(Mode::kTolerateCorruptedTailRecords);
  }

  void Stop(uint64_t number, uint64_t offset, const std::string& reason) {
    report_->stopped_early = true;
    report_->stop_number = number;
    report_->stop_offset = offset;
    report_->stop_reason = reason;
  }

  // Stops where a log cannot be read further. An error if that is less than was synced.
  Status StopBehind(uint64_t number, uint64_t end, const std::string& reason) {
    const auto found = std::find(numbers_->begin(), numbers_->end(), number);
    const auto index = static_cast<size_t>(found - numbers_->begin());
    Status s = CheckNothingSyncedIsLost(fs_, options_.wal_dir, options_.synced, *numbers_, index, end, reason);
    if (s.ok() && !report_->stopped_early) Stop(number, end, reason);
    return s;
  }

  // Shows the record to the filter. False: it is not to be replayed, or *s is an error.
  bool Filter(const WalReader& reader, uint64_t number, Slice* batch, LogRead* read,
              Status* damage, Status* s) {
    WalVerdict verdict = WalVerdict::kReplay;
    *s = options_.filter(number, reader.path(), batch, &verdict);
    if (!s->ok() || verdict == WalVerdict::kSkip) return false;
    if (verdict == WalVerdict::kStop) {
      EndLog(reader, number);
      Stop(number, reader.RecordOffset(), "the WAL filter ends the replay");
      return false;
    }
    if (verdict != WalVerdict::kDamaged) return true;
    *damage = Status::Corruption(Place(reader), "reported by the WAL filter");
    *read = LogRead::kCorruption;
    if (Is(Mode::kSkipAnyCorruptedRecords)) return true;
    report_->problems.push_back(damage->ToString());
    if (Is(Mode::kPointInTimeRecovery)) {
      // The bytes are as they were written. It does not matter whether they were synced.
      EndLog(reader, number);
      Stop(number, reader.EndOffset(), damage->ToString());
    } else {
      *s = *damage;
    }
    return false;
  }

  static std::string Place(const WalReader& reader) {
    return reader.path() + " at offset " + std::to_string(reader.RecordOffset());
  }

  Status Apply(const WalReader& reader, uint64_t number, const Slice& batch,
               const BatchPlace& place) {
    Status s = callback_(number, batch, place);
    if (s.IsCorruption()) return Status::Corruption(Place(reader), s.ToString());
    if (!s.ok()) return s;
    ++report_->records;
    report_->bytes += batch.size();
    return s;
  }

  Status ReplayLog(uint64_t number) {
    std::unique_ptr<WalReader> reader;
    Status s = WalReader::Open(fs_, options_.wal_dir, number, &reader);
    // An encrypted log whose own header is damaged is lost as a whole.
    if (s.IsCorruption() && Is(Mode::kSkipAnyCorruptedRecords)) {
      report_->problems.push_back(s.ToString());
      return Status::OK();
    }
    if (!s.ok()) return s;
    ++report_->logs;
    LogRead read = reader->ReadHeader();
    if (read == LogRead::kError) return reader->status();
    if (reader->has_header()) {
      s = CheckHeader(*reader);
      if (!s.ok() || report_->stopped_early) return s;
    } else if (read == LogRead::kEnd) {
      empty_.insert(number);
      return CheckEnd(reader->path(), number, 0);
    } else if (damaged_) {
      // No header shows that the log before this one was complete.
      return StopBehind(previous_number_, previous_end_, damage_);
    }
    while (true) {
      Slice batch;
      BatchPlace place;
      // Damage to the header itself is handled like any other.
      if (read == LogRead::kRecord) read = reader->ReadBatch(&batch);
      Status damage = reader->status();
      const Slice as_read = batch;
      if (read == LogRead::kRecord && options_.filter &&
          !Filter(*reader, number, &batch, &read, &damage, &s)) {
        if (!s.ok() || report_->stopped_early) return s;
        continue;
      }
      switch (read) {
        case LogRead::kRecord:
          // A filter may have replaced it.
          if (batch.data() == as_read.data()) place = reader->place();
          if (s = Apply(*reader, number, batch, place); !s.ok()) return s;
          break;
        case LogRead::kEnd:
          EndLog(*reader, number);
          return CheckEnd(reader->path(), number, previous_end_);
        case LogRead::kTornTail:
        case LogRead::kCorruption:
          report_->problems.push_back(damage.ToString());
          report_->records_behind |= read == LogRead::kCorruption;
          if (!Is(Mode::kSkipAnyCorruptedRecords) || read == LogRead::kTornTail) {
            return Damaged(*reader, number, damage);
          }
          read = LogRead::kRecord;  // continue with the next one
          break;
        case LogRead::kError:
          return reader->status();
      }
    }
  }

  void EndLog(const WalReader& reader, uint64_t number) {
    report_->dropped_bytes += reader.DroppedBytes();
    previous_number_ = number;
    previous_end_ = reader.EndOffset();
    report_->end_number = previous_number_;
    report_->end_offset = previous_end_;
  }

  // A log that ends after a whole record.
  Status CheckEnd(const std::string& path, uint64_t number, uint64_t end) {
    if (options_.synced.number != number || end >= options_.synced.bytes) return Status::OK();
    Status s = Status::Corruption(path + " at offset " + std::to_string(end),
                                  "the log was synced up to offset " +
                                      std::to_string(options_.synced.bytes) + ", but ends there");
    report_->problems.push_back(s.ToString());
    return Is(Mode::kSkipAnyCorruptedRecords) ? Status::OK() : s;
  }

  Status Damaged(const WalReader& reader, uint64_t number, const Status& damage) {
    EndLog(reader, number);
    if (Is(Mode::kSkipAnyCorruptedRecords)) return Status::OK();
    if (Is(Mode::kAbsoluteConsistency)) return damage;
    // The next log's header says whether anything is missing.
    damaged_ = true;
    damage_ = damage.ToString();
    return Status::OK();
  }

  // The log before the log `reader` is missing. A power cut does not remove a whole log: it, or the
  // manifest's last commits, were lost in another way, and a stop would hide that.
  Status Missing(const WalReader& reader) {
    const std::string what =
        "follows log " + std::to_string(reader.header().predecessor) + ", which is missing";
    report_->problems.push_back(Place(reader) + ": " + what);
    return Is(Mode::kSkipAnyCorruptedRecords) ? Status::OK() : Status::Corruption(Place(reader), what);
  }

  // The log before the log `reader` ends too early, at `end`.
  Status Shorter(const WalReader& reader, uint64_t end) {
    const WalHeader& header = reader.header();
    const std::string what = "follows " + std::to_string(header.predecessor_bytes) +
                             " bytes of log " + std::to_string(header.predecessor) +
                             ", but only " + std::to_string(end) + " can be read";
    report_->problems.push_back(Place(reader) + ": " + what);
    if (Is(Mode::kSkipAnyCorruptedRecords)) return Status::OK();
    if (!StopsAtHoles()) return Status::Corruption(Place(reader), what);
    if (damaged_) {
      Status s = StopBehind(previous_number_, previous_end_, damage_);
      if (!s.ok() || previous_number_ == header.predecessor) return s;
    }
    return StopBehind(header.predecessor, end, Place(reader) + ": " + what);
  }

  Status CheckHeader(const WalReader& reader) {
    const WalHeader& header = reader.header();
    if (!options_.db_id.empty() && !header.db_id.empty() && header.db_id != options_.db_id) {
      return Status::Corruption(Place(reader), "belongs to the database " + header.db_id +
                                                   ", not to " + options_.db_id);
    }
    const bool follows_empty = empty_.count(header.predecessor) != 0;
    if (!follows_empty && header.predecessor != before_ &&
        header.predecessor >= options_.min_number && header.predecessor != 0) {
      return Missing(reader);
    }
    const uint64_t end = follows_empty ? 0 : previous_end_;
    if ((follows_empty || (header.predecessor == before_ && before_ != 0)) &&
        end < header.predecessor_bytes) {
      return Shorter(reader, end);
    }
    // A log that failed is followed as far as it was synced, which may be nothing. Then nothing shows that the one
    // before it was whole.
    if (follows_empty && damaged_) return StopBehind(previous_number_, previous_end_, damage_);
    damaged_ = false;  // nothing that was ever followed is missing
    return Status::OK();
  }

  FileSystem* const fs_;
  const WalRecoveryOptions& options_;
  const WalRecordCallback& callback_;
  WalRecoveryReport* const report_;
  uint64_t previous_number_ = 0;
  uint64_t previous_end_ = 0;
  uint64_t before_ = 0;  // the log before the one that is read
  // They were never begun, or nothing in them was durable: links of the chain only if a later log names them.
  std::set<uint64_t> empty_;
  // The previous log could not be read to its end, and holes end the replay.
  bool damaged_ = false;
  std::string damage_;
  const std::vector<uint64_t>* numbers_ = nullptr;
};

}  // namespace

Status RecoverWals(FileSystem* fs, const WalRecoveryOptions& options,
                   const std::vector<uint64_t>& numbers, const WalRecordCallback& callback,
                   WalRecoveryReport* report) {
  *report = WalRecoveryReport();
  return Recovery(fs, options, callback, report).Run(numbers);
}

void DropEmptyTail(FileSystem* fs, const std::string& wal_dir, uint64_t kept,
                   std::vector<uint64_t>* numbers, std::vector<uint64_t>* dropped) {
  while (!numbers->empty() && numbers->back() > kept) {
    std::unique_ptr<WalReader> reader;
    const Status s = WalReader::Open(fs, wal_dir, numbers->back(), &reader);
    if (!IsMissing(s)) {
      if (!s.ok() || reader->ReadHeader() != LogRead::kEnd) return;
      dropped->push_back(numbers->back());
    }
    numbers->pop_back();
  }
}

Status ListWals(FileSystem* fs, const std::string& wal_dir, uint64_t min_number,
                std::vector<uint64_t>* numbers) {
  numbers->clear();
  std::vector<std::string> names;
  Status s = fs->GetChildren(wal_dir, &names);
  if (!s.ok()) return s;
  for (const std::string& name : names) {
    uint64_t number;
    FileType type;
    if (ParseFileName(name, &number, &type) && type == FileType::kWal && number >= min_number) {
      numbers->push_back(number);
    }
  }
  std::sort(numbers->begin(), numbers->end());
  return s;
}

}  // namespace compassdb
