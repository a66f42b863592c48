// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/comparator.h"

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "api/comparator_u64ts.h"
#include "api/registered.h"
#include "rocksdb/config_options.h"
#include "rocksdb/slice.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {

namespace {

uint8_t ByteAt(const Slice& s, size_t i) { return static_cast<uint8_t>(s[i]); }

class BytewiseComparatorImpl : public Comparator {
 public:
  static const char* kClassName() { return "leveldb.BytewiseComparator"; }
  const char* Name() const override { return kClassName(); }

  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  bool Equal(const Slice& a, const Slice& b) const override { return a == b; }

  // Cuts *start behind the first byte past the common prefix that can be raised without reaching
  // `limit`. A 0xff cannot be raised, so it stays and the search continues.
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    const size_t common = Slice(*start).difference_offset(limit);
    if (common >= std::min(start->size(), limit.size())) return;  // one begins the other
    const uint8_t low = static_cast<uint8_t>((*start)[common]);
    const uint8_t high = ByteAt(limit, common);
    if (low >= high) return;
    size_t raise = common;
    if (low + 1 == high && common + 1 == limit.size()) {
      // Raising this byte would give `limit` itself: raise a later one.
      do {
        ++raise;
      } while (raise < start->size() && (*start)[raise] == '\xff');
      if (raise >= start->size()) return;
    }
    start->resize(raise + 1);
    ++(*start)[raise];
    assert(Compare(*start, limit) < 0);
  }

  void FindShortSuccessor(std::string* key) const override {
    const size_t i = key->find_first_not_of('\xff');
    if (i == std::string::npos) return;
    key->resize(i + 1);
    ++(*key)[i];
  }

  // t is s plus one, both read as numbers.
  bool IsSameLengthImmediateSuccessor(const Slice& s, const Slice& t) const override {
    if (s.size() != t.size() || s.empty()) return false;
    const size_t i = s.difference_offset(t);
    if (i == s.size() || ByteAt(s, i) + 1 != ByteAt(t, i)) return false;
    for (size_t j = i + 1; j < s.size(); ++j) {
      if (ByteAt(s, j) != 0xff || ByteAt(t, j) != 0) return false;
    }
    return true;
  }

  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }

  using Comparator::CompareWithoutTimestamp;
  int CompareWithoutTimestamp(const Slice& a, bool, const Slice& b, bool) const override {
    return a.compare(b);
  }
  bool EqualWithoutTimestamp(const Slice& a, const Slice& b) const override { return a == b; }
};

class ReverseBytewiseComparatorImpl : public BytewiseComparatorImpl {
 public:
  static const char* kClassName() { return "rocksdb.ReverseBytewiseComparator"; }
  const char* Name() const override { return kClassName(); }

  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }

  // Here a prefix comes after what it begins, so cutting *start moves it towards `limit`.
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    const size_t common = Slice(*start).difference_offset(limit);
    if (common >= std::min(start->size(), limit.size())) return;
    if (static_cast<uint8_t>((*start)[common]) > ByteAt(limit, common)) start->resize(common + 1);
  }

  void FindShortSuccessor(std::string* /*key*/) const override {}

  bool IsSameLengthImmediateSuccessor(const Slice& s, const Slice& t) const override {
    return BytewiseComparatorImpl::IsSameLengthImmediateSuccessor(t, s);
  }

  using Comparator::CompareWithoutTimestamp;
  int CompareWithoutTimestamp(const Slice& a, bool, const Slice& b, bool) const override {
    return b.compare(a);
  }
};

// Orders by the key without its timestamp as Base does, then by timestamp, newest first.
template <typename Base>
class U64TimestampComparator : public Comparator {
 public:
  U64TimestampComparator() : Comparator(sizeof(uint64_t)) {}

  static const char* kClassName() {
    static const std::string name = std::string(Base::kClassName()) + ".u64ts";
    return name.c_str();
  }
  const char* Name() const override { return kClassName(); }

  // Shortening would have to keep the timestamp whole; leaving the key alone is always correct.
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  const Comparator* GetRootComparator() const override { return &base_; }
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }

  int Compare(const Slice& a, const Slice& b) const override {
    const int order = CompareWithoutTimestamp(a, true, b, true);
    return order != 0 ? order : -CompareTimestamp(Timestamp(a), Timestamp(b));
  }

  using Comparator::CompareWithoutTimestamp;
  int CompareWithoutTimestamp(const Slice& a, bool a_has_ts, const Slice& b,
                              bool b_has_ts) const override {
    return base_.Compare(a_has_ts ? Strip(a) : a, b_has_ts ? Strip(b) : b);
  }
  bool EqualWithoutTimestamp(const Slice& a, const Slice& b) const override {
    return Strip(a) == Strip(b);
  }

  int CompareTimestamp(const Slice& ts1, const Slice& ts2) const override {
    assert(ts1.size() == sizeof(uint64_t) && ts2.size() == sizeof(uint64_t));
    const uint64_t a = compassdb::DecodeFixed64(ts1.data());
    const uint64_t b = compassdb::DecodeFixed64(ts2.data());
    return a < b ? -1 : (a > b ? 1 : 0);
  }

 private:
  static Slice Strip(const Slice& key) {
    assert(key.size() >= sizeof(uint64_t));
    return Slice(key.data(), key.size() - sizeof(uint64_t));
  }
  static Slice Timestamp(const Slice& key) {
    return Slice(key.data() + key.size() - sizeof(uint64_t), sizeof(uint64_t));
  }

  Base base_;
};

// Never destroyed: databases in static objects may outlive the library's static objects.
template <typename T>
const Comparator* Singleton() {
  static const Comparator* const instance = new T();
  return instance;
}

}  // namespace

const Comparator* BytewiseComparator() { return Singleton<BytewiseComparatorImpl>(); }

const Comparator* ReverseBytewiseComparator() {
  return Singleton<ReverseBytewiseComparatorImpl>();
}

Status Comparator::CreateFromString(const ConfigOptions& opts, const std::string& value,
                                    const Comparator** comp) {
  std::string id;
  compassdb::OptionMap options;
  Status s = Customizable::GetOptionsMap(opts, *comp, value, &id, &options);
  if (!s.ok()) return s;
  if (value.empty()) {
    *comp = nullptr;
    return s;
  }
  if (id.empty()) return compassdb::CannotReset();
  if (compassdb::FindRegistered<const Comparator>(opts, id, comp, &s)) return s;
  for (const Comparator* known :
       {BytewiseComparator(), ReverseBytewiseComparator(), compassdb::BytewiseComparatorWithU64Ts(),
        compassdb::ReverseBytewiseComparatorWithU64Ts()}) {
    if (id == known->Name()) {
      *comp = known;
      return Status::OK();
    }
  }
  return compassdb::UnknownObject(opts, "Comparator", id);
}

}  // namespace ROCKSDB_NAMESPACE

namespace compassdb {

const rocksdb::Comparator* BytewiseComparatorWithU64Ts() {
  return rocksdb::Singleton<rocksdb::U64TimestampComparator<rocksdb::BytewiseComparatorImpl>>();
}

const rocksdb::Comparator* ReverseBytewiseComparatorWithU64Ts() {
  return rocksdb::Singleton<rocksdb::U64TimestampComparator<rocksdb::ReverseBytewiseComparatorImpl>>();
}

}  // namespace compassdb
