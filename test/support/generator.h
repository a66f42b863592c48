// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <utility>

#include "support/op.h"
#include "support/profile.h"
#include "support/random.h"

namespace compassdb_test {

// Bounds, in the family's order, of the keys of a generator whose profile has this key prefix.
std::pair<std::string, std::string> OwnRange(const std::string& prefix, bool reverse_order);

// A stream of valid operations from a seed. It knows just enough of the state
// to stay inside the API's contracts: which families, snapshots and iterators
// exist, and which keys may be SingleDeleted (those whose names begin with
// "sd", which get one Put between two SingleDeletes; a DeleteRange in between is
// fine). Thread safety: none.
class Generator {
 public:
  Generator(const Profile& profile, uint64_t seed);

  Op Next();
  // A key of the family that no SingleDelete is for, in its order, and what may be written to it.
  std::string NormalKey(int family);
  std::string Value(int family);
  std::string MergeOperand(int family);
  bool Less(int family, const std::string& a, const std::string& b) const;
  // Whether iterators of the family are open.
  bool HasIterators(int family) const;
  // Snapshots and iterators are gone: the database was closed.
  void ForgetReaders();

 private:
  std::string Key(int family);
  std::string SingleDeleteKey(int family);
  int Family();
  int Snapshot();

  WriteItem Item(int family, bool rollback_possible);
  WriteItem RangeItem(int family);
  WriteItem SingleDeleteItem(int family);
  Op Write(bool batch);
  Op Read(OpKind kind);
  Op ChangeSnapshot();
  Op ChangeIterator();
  Op NewIterator(int slot);
  void KeepToOwnKeys(int family, IteratorSpec* it) const;
  void AddMoves(bool prefix_mode, bool first, Op* op);
  IteratorMove Move(int family, bool prefix_mode, bool absolute);
  Op ChangeFamily();
  Op Maintenance(OpKind kind);

  const Profile& profile_;
  Random random_;
  bool families_[kMaxFamilies] = {};
  bool snapshots_[kMaxSnapshots] = {};
  struct IteratorState {
    bool open = false;
    int family = 0;
    bool prefix_mode = false;
    int snapshot = kNoSnapshot;
  };
  IteratorState iterators_[kMaxIterators];
  std::set<std::pair<int, std::string>> single_delete_present_;
};

}  // namespace compassdb_test
