// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace compassdb_test {

// Operations as data: a generator makes them from a seed, a DbExecutor applies
// them to a database, a ModelExecutor to an ordered map, and each answers with
// a text. Equal texts mean equal behaviour; so the same list serves the model
// test, the comparison with RocksDB, and comparison between option sets.

// Column families are named by slot: 0 is "default", n is "familyN".
constexpr int kMaxFamilies = 5;
constexpr int kMaxSnapshots = 6;
constexpr int kMaxIterators = 4;
constexpr int kNoSnapshot = -1;

struct WriteItem {
  enum class Kind {
    kPut,
    kDelete,
    kSingleDelete,
    kDeleteRange,
    kMerge,
    kLogData,
    kSetSavePoint,
    kRollback,
    kPopSavePoint,
  };
  Kind kind = Kind::kPut;
  int family = 0;
  std::string key;
  std::string value;  // kDeleteRange: the end key
};

struct IteratorMove {
  enum class Kind { kSeek, kSeekForPrev, kFirst, kLast, kNext, kPrev, kRefresh };
  Kind kind = Kind::kFirst;
  std::string key;
  int count = 1;
};

struct IteratorSpec {
  bool has_lower = false;
  bool has_upper = false;
  std::string lower;
  std::string upper;
  bool prefix_same_as_start = false;
  bool pin_data = false;
};

enum class OpKind {
  kWrite,
  kGet,
  kMultiGet,
  kKeyMayExist,
  kTakeSnapshot,
  kReleaseSnapshot,
  kNewIterator,
  kMoveIterator,
  kReleaseIterator,
  kScan,
  kFlush,
  kCompact,
  kCreateFamily,
  kDropFamily,
  kReopen,
  kReadOnly,
  kVerifyChecksum,
};

struct Op {
  OpKind kind = OpKind::kGet;
  int family = 0;
  int slot = 0;                  // of a snapshot or iterator
  int snapshot = kNoSnapshot;    // to read at
  std::vector<WriteItem> items;  // kWrite
  bool batch = false;            // kWrite: as one WriteBatch, else item 0 by itself
  bool sync = false;
  bool disable_wal = false;
  std::vector<std::pair<int, std::string>> keys;  // kGet, kMultiGet, kReadOnly...
  bool by_family = false;                         // kMultiGet: the single-family form
  IteratorSpec iterator;
  std::vector<IteratorMove> moves;
  bool has_begin = false;  // kCompact
  bool has_end = false;
  std::string begin;
  std::string end;
  uint64_t number = 0;  // kReopen: the seed of the new options; kFlush, kCompact: variants
};

std::string ToString(const Op& op);

std::string FamilyName(int slot);

}  // namespace compassdb_test
