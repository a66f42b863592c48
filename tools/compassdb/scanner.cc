// SPDX-License-Identifier: Apache-2.0
#include "scanner.h"

#include <rocksdb/comparator.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>
#include <rocksdb/wide_columns.h>

#include <memory>

#include "exit_codes.h"
#include "streams.h"

namespace compassdb_cli {

using rocksdb::Slice;

bool DecodeRange(const std::string& command, const Globals& globals, ScanFlags* flags) {
  return DecodeArgument(command, "--from", globals.KeyHex() && flags->has_from, &flags->from) &&
         DecodeArgument(command, "--to", globals.KeyHex() && flags->has_to, &flags->to) &&
         DecodeArgument(command, "--prefix", globals.KeyHex() && flags->has_prefix, &flags->prefix);
}

int RefuseEntity(const std::string& command, const std::string& family, const rocksdb::Iterator& record) {
  const rocksdb::WideColumns& columns = record.columns();
  if (columns.empty() || (columns.size() == 1 && columns[0].name().empty())) return kOk;
  return Fail(kFailed, command + ": column family " + family,
              "key " + record.key().ToString(true) + " is a wide-column entity");
}

namespace {

// In byte order a prefix is a range, and the range of --from and --to can be
// cut to it. Under another comparator all records are read.
class Range {
 public:
  Range(const ScanFlags& flags, const rocksdb::Comparator* comparator)
      : flags_(flags),
        comparator_(comparator),
        bytewise_(comparator == rocksdb::BytewiseComparator()),
        start_(flags.from) {
    if (bytewise_ && flags.has_prefix && start_.compare(flags.prefix) < 0) start_ = flags.prefix;
    has_start_ = flags.has_from || (bytewise_ && flags.has_prefix);
  }

  bool BeforeStart(const Slice& key) const {
    return has_start_ && comparator_->Compare(key, start_) < 0;
  }
  bool BeyondEnd(const Slice& key) const {
    if (flags_.has_to && comparator_->Compare(key, flags_.to) >= 0) return true;
    return bytewise_ && flags_.has_prefix && !key.starts_with(flags_.prefix) &&
           key.compare(flags_.prefix) > 0;
  }
  bool Skips(const Slice& key) const {
    return flags_.has_prefix && !key.starts_with(flags_.prefix);
  }

  void SeekToFirst(rocksdb::Iterator* it) const {
    has_start_ ? it->Seek(start_) : it->SeekToFirst();
  }

  // To the last record of the range, or before its start.
  void SeekToLast(rocksdb::Iterator* it) const {
    std::string after_prefix;
    const bool bounded = bytewise_ && flags_.has_prefix && Successor(&after_prefix);
    if (bounded && (!flags_.has_to || after_prefix < flags_.to)) {
      it->SeekForPrev(after_prefix);
    } else if (flags_.has_to) {
      it->SeekForPrev(flags_.to);
    } else {
      it->SeekToLast();
    }
    while (it->Valid() && BeyondEnd(it->key())) it->Prev();
  }

 private:
  // The smallest key above all that begin with the prefix.
  bool Successor(std::string* key) const {
    *key = flags_.prefix;
    while (!key->empty() && static_cast<unsigned char>(key->back()) == 0xff) key->pop_back();
    if (key->empty()) return false;
    key->back() = static_cast<char>(key->back() + 1);
    return true;
  }

  const ScanFlags& flags_;
  const rocksdb::Comparator* const comparator_;
  const bool bytewise_;
  std::string start_;
  bool has_start_ = false;
};

}  // namespace

int WriteRange(const std::string& command, const Globals& globals, const ScanFlags& flags,
               Database* database, uint64_t* count) {
  rocksdb::ColumnFamilyHandle* family = database->Family(command, globals);
  if (family == nullptr) return kFailed;
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> it(database->db()->NewIterator(options, family));
  const Range range(flags, family->GetComparator());
  RecordWriter writer(flags.format, flags.keys_only);
  bool written = true;
  flags.reverse ? range.SeekToLast(it.get()) : range.SeekToFirst(it.get());
  for (; written && it->Valid() && writer.count() < flags.limit;
       flags.reverse ? it->Prev() : it->Next()) {
    const Slice key = it->key(), value = it->value();
    if (flags.reverse ? range.BeforeStart(key) : range.BeyondEnd(key)) break;
    if (range.Skips(key)) continue;
    if (flags.whole) {
      if (const int code = RefuseEntity(command, family->GetName(), *it); code != kOk) return code;
    }
    written = writer.Write({key.data(), key.size()}, {value.data(), value.size()});
  }
  *count = writer.count();
  if (!it->status().ok()) {
    return Fail(command + ": column family " + family->GetName(), it->status());
  }
  return FinishOutput(command, kOk);
}

}  // namespace compassdb_cli
