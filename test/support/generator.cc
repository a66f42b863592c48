// SPDX-License-Identifier: Apache-2.0
#include "support/generator.h"

#include <algorithm>

namespace compassdb_test {

std::pair<std::string, std::string> OwnRange(const std::string& prefix, bool reverse_order) {
  std::string next = prefix;
  if (!reverse_order) {
    next.back()++;
    return {prefix, next};
  }
  next.back()--;
  return {prefix + '\xff', next + '\xff'};
}

Generator::Generator(const Profile& profile, uint64_t seed) : profile_(profile), random_(seed) {
  for (int family = 0; family < profile.fixed_families; family++) families_[family] = true;
}

bool Generator::Less(int family, const std::string& a, const std::string& b) const {
  return profile_.families[family].reverse_order ? b < a : a < b;
}

int Generator::Family() {
  for (;;) {
    int family = static_cast<int>(random_.Uniform(profile_.families.size()));
    if (families_[family]) return family;
  }
}

int Generator::Snapshot() {
  if (!random_.Percent(30)) return kNoSnapshot;
  int slot = static_cast<int>(random_.Uniform(kMaxSnapshots));
  return snapshots_[slot] ? slot : kNoSnapshot;
}

std::string Generator::NormalKey(int family) {
  // Half of all accesses go to an eighth of the keys.
  uint64_t range = random_.OneIn(2) ? profile_.keys : profile_.keys / 8 + 1;
  uint64_t number = random_.Uniform(range);
  if (number == 0 && !profile_.families[family].prefix_extractor) {
    static const char* const kOdd[] = {"", "k", "ka"};
    return profile_.key_prefix + (random_.OneIn(4) ? std::string(1, '\0') : random_.Pick(kOdd));
  }
  std::string key = profile_.key_prefix + "k";
  key += static_cast<char>('a' + number % 5);
  key += static_cast<char>('a' + number % 3);
  key += std::to_string(number);
  // Some keys extend others, some with bytes at the ends of the range.
  if (number % 11 == 0) key += std::string(1, '\0');
  if (number % 13 == 0) key += "\xff\xff";
  if (number % 17 == 0) key += std::string(40, 'x');
  return key;
}

std::string Generator::SingleDeleteKey(int family) {
  return profile_.key_prefix + "sd" + std::to_string(family) + std::to_string(random_.Uniform(profile_.keys / 10 + 1));
}

std::string Generator::Key(int family) {
  return random_.Percent(8) ? SingleDeleteKey(family) : NormalKey(family);
}

std::string Generator::Value(int family) {
  size_t length = random_.Skewed(profile_.max_value_log);
  if (profile_.large_values && random_.OneIn(40)) length = random_.Range(2000, 20000);
  std::string value = length > 60 ? random_.Bytes(length) : random_.Text(length);
  if (profile_.families[family].filter && !value.empty()) {
    if (random_.Percent(15)) value[0] = '!';
    if (random_.Percent(10)) value[0] = '?';
  }
  if (profile_.families[family].merge == MergeKind::kAdd) {
    value = EncodeNumber(random_.Uniform(1000));
  }
  return value;
}

std::string Generator::MergeOperand(int family) {
  switch (profile_.families[family].merge) {
    case MergeKind::kAdd: return EncodeNumber(random_.Next());
    case MergeKind::kCommands: {
      static const char* const kCommands[] = {"c", "d", "r", "=", "+", "+", "+"};
      return random_.Pick(kCommands) + random_.Text(random_.Uniform(6));
    }
    default: return random_.Text(random_.Uniform(9));
  }
}

WriteItem Generator::RangeItem(int family) {
  WriteItem item;
  item.kind = WriteItem::Kind::kDeleteRange;
  item.family = family;
  item.key = Key(family);
  item.value = Key(family);
  if (!random_.OneIn(4)) {
    // A narrow one, near the first key.
    item.value = item.key + (random_.OneIn(2) ? "~" : "5");
    if (random_.OneIn(2) && item.key.size() > 4) item.value = item.key.substr(0, 4) + "~";
  }
  if (Less(family, item.value, item.key)) std::swap(item.key, item.value);
  if (item.key == item.value) {
    if (profile_.families[family].reverse_order) {
      item.key += '\0';
    } else {
      item.value += '\0';
    }
  }
  return item;
}

WriteItem Generator::SingleDeleteItem(int family) {
  WriteItem item;
  item.family = family;
  item.key = SingleDeleteKey(family);
  auto [place, absent] = single_delete_present_.insert({family, item.key});
  if (absent) {
    item.kind = WriteItem::Kind::kPut;
    item.value = random_.Text(random_.Uniform(20));
  } else {
    item.kind = WriteItem::Kind::kSingleDelete;
    single_delete_present_.erase(place);
  }
  return item;
}

WriteItem Generator::Item(int family, bool rollback_possible) {
  WriteItem item;
  item.family = family;
  int roll = static_cast<int>(random_.Uniform(100));
  if ((roll -= profile_.delete_share) < 0) {
    item.kind = WriteItem::Kind::kDelete;
    item.key = NormalKey(family);
    return item;
  }
  if ((roll -= profile_.single_delete_share) < 0 && !rollback_possible) {
    return SingleDeleteItem(family);
  }
  if ((roll -= profile_.delete_range_share) < 0 && profile_.delete_range_share > 0) return RangeItem(family);
  if ((roll -= profile_.merge_share) < 0 &&
      profile_.families[family].merge != MergeKind::kNone) {
    item.kind = WriteItem::Kind::kMerge;
    item.key = NormalKey(family);
    item.value = MergeOperand(family);
    return item;
  }
  item.key = NormalKey(family);
  item.value = Value(family);
  return item;
}

Op Generator::Write(bool batch) {
  Op op;
  op.kind = OpKind::kWrite;
  op.batch = batch;
  op.sync = random_.OneIn(50);
  op.disable_wal = profile_.disable_wal && !op.sync && random_.OneIn(4);
  if (!batch) {
    op.items.push_back(Item(Family(), false));
    return op;
  }
  bool save_points = random_.OneIn(4);
  int open_save_points = 0;
  for (uint64_t n = random_.Uniform(random_.OneIn(30) ? 200 : 12); n > 0; n--) {
    op.items.push_back(Item(Family(), save_points));
    if (random_.OneIn(20)) {
      WriteItem log;
      log.kind = WriteItem::Kind::kLogData;
      log.value = random_.Text(5);
      op.items.push_back(log);
    }
    if (!save_points || !random_.OneIn(4)) continue;
    WriteItem mark;
    if (open_save_points == 0 || random_.OneIn(2)) {
      mark.kind = WriteItem::Kind::kSetSavePoint;
      open_save_points++;
    } else {
      mark.kind = random_.OneIn(3) ? WriteItem::Kind::kPopSavePoint : WriteItem::Kind::kRollback;
      open_save_points--;
    }
    op.items.push_back(mark);
  }
  return op;
}

Op Generator::Read(OpKind kind) {
  Op op;
  op.kind = kind;
  op.snapshot = Snapshot();
  op.by_family = kind == OpKind::kMultiGet && random_.OneIn(2);
  op.family = Family();
  op.number = random_.Uniform(4);
  uint64_t count = kind == OpKind::kMultiGet ? random_.Uniform(12) : 1;
  for (uint64_t i = 0; i < count; i++) {
    int family = op.by_family || kind == OpKind::kKeyMayExist ? op.family : Family();
    op.keys.emplace_back(family, Key(family));
  }
  return op;
}

Op Generator::ChangeSnapshot() {
  Op op;
  op.slot = static_cast<int>(random_.Uniform(kMaxSnapshots));
  bool& taken = snapshots_[op.slot];
  // A snapshot outlives the iterators that read at it.
  for (int slot = 0; slot < kMaxIterators; slot++) {
    IteratorState& it = iterators_[slot];
    if (!taken || !it.open || it.snapshot != op.slot) continue;
    it.open = false;
    op.kind = OpKind::kReleaseIterator;
    op.slot = slot;
    return op;
  }
  op.kind = taken ? OpKind::kReleaseSnapshot : OpKind::kTakeSnapshot;
  taken = !taken;
  return op;
}

IteratorMove Generator::Move(int family, bool prefix_mode, bool absolute) {
  using Kind = IteratorMove::Kind;
  IteratorMove move;
  if (!absolute && random_.Percent(70)) {
    move.kind = random_.OneIn(2) ? Kind::kNext : Kind::kPrev;
    move.count = static_cast<int>(1 + random_.Skewed(4));
    return move;
  }
  static const Kind kAbsolute[] = {Kind::kSeek, Kind::kSeekForPrev, Kind::kFirst, Kind::kLast};
  move.kind = kAbsolute[random_.Uniform(prefix_mode ? 2 : 4)];
  if (move.kind == Kind::kSeek || move.kind == Kind::kSeekForPrev) move.key = Key(family);
  return move;
}

void Generator::AddMoves(bool prefix_mode, bool first, Op* op) {
  for (uint64_t n = 1 + random_.Uniform(5); n > 0; n--) {
    op->moves.push_back(Move(op->family, prefix_mode, first));
    first = false;
  }
}

void Generator::KeepToOwnKeys(int family, IteratorSpec* it) const {
  auto [begin, end] = OwnRange(profile_.key_prefix, profile_.families[family].reverse_order);
  if (!it->has_lower) it->lower = begin;
  if (!it->has_upper) it->upper = end;
  it->has_lower = it->has_upper = true;
}

Op Generator::NewIterator(int slot) {
  Op op;
  op.kind = OpKind::kNewIterator;
  op.slot = slot;
  op.family = Family();
  op.snapshot = Snapshot();
  const FamilySpec& spec = profile_.families[op.family];
  op.iterator.pin_data = random_.OneIn(4);
  op.iterator.prefix_same_as_start = spec.prefix_extractor && random_.OneIn(2);
  if (!op.iterator.prefix_same_as_start) {
    op.iterator.has_lower = random_.OneIn(3);
    op.iterator.has_upper = random_.OneIn(3);
    op.iterator.lower = Key(op.family);
    op.iterator.upper = Key(op.family);
    if (op.iterator.has_lower && op.iterator.has_upper &&
        Less(op.family, op.iterator.upper, op.iterator.lower)) {
      std::swap(op.iterator.lower, op.iterator.upper);
    }
  }
  if (!profile_.key_prefix.empty()) KeepToOwnKeys(op.family, &op.iterator);
  iterators_[slot] = {true, op.family, op.iterator.prefix_same_as_start,
                      op.snapshot};
  AddMoves(op.iterator.prefix_same_as_start, true, &op);
  return op;
}

Op Generator::ChangeIterator() {
  int slot = static_cast<int>(random_.Uniform(kMaxIterators));
  IteratorState& it = iterators_[slot];
  if (!it.open) return NewIterator(slot);
  Op op;
  op.slot = slot;
  op.family = it.family;
  if (random_.OneIn(3)) {
    op.kind = OpKind::kReleaseIterator;
    it.open = false;
    return op;
  }
  op.kind = OpKind::kMoveIterator;
  bool refresh = it.snapshot == kNoSnapshot && random_.OneIn(5);
  if (refresh) {
    IteratorMove move;
    move.kind = IteratorMove::Kind::kRefresh;
    op.moves.push_back(move);
  }
  AddMoves(it.prefix_mode, refresh, &op);
  return op;
}

Op Generator::ChangeFamily() {
  Op op;
  if (static_cast<int>(profile_.families.size()) == profile_.fixed_families) return Maintenance(OpKind::kFlush);
  op.family = profile_.fixed_families +
              static_cast<int>(random_.Uniform(profile_.families.size() - profile_.fixed_families));
  // An iterator of the family is released first; the drop comes another time.
  for (int slot = 0; slot < kMaxIterators; slot++) {
    IteratorState& it = iterators_[slot];
    if (it.open && it.family == op.family && families_[op.family]) {
      it.open = false;
      op.kind = OpKind::kReleaseIterator;
      op.slot = slot;
      return op;
    }
  }
  bool& exists = families_[op.family];
  op.kind = exists ? OpKind::kDropFamily : OpKind::kCreateFamily;
  op.number = random_.Next();
  exists = !exists;
  auto& present = single_delete_present_;
  for (auto it = present.begin(); it != present.end();) {
    it = it->first == op.family ? present.erase(it) : std::next(it);
  }
  return op;
}

bool Generator::HasIterators(int family) const {
  for (const IteratorState& it : iterators_) {
    if (it.open && it.family == family) return true;
  }
  return false;
}

void Generator::ForgetReaders() {
  for (bool& taken : snapshots_) taken = false;
  for (IteratorState& it : iterators_) it.open = false;
}

Op Generator::Maintenance(OpKind kind) {
  Op op;
  op.kind = kind;
  op.family = Family();
  op.number = random_.Next();
  if (kind == OpKind::kCompact) {
    op.has_begin = random_.OneIn(2);
    op.has_end = random_.OneIn(2);
    op.begin = Key(op.family);
    op.end = Key(op.family);
    if (op.has_begin && op.has_end && Less(op.family, op.end, op.begin)) {
      std::swap(op.begin, op.end);
    }
  }
  if (kind == OpKind::kReopen || kind == OpKind::kReadOnly) ForgetReaders();
  if (kind == OpKind::kReadOnly) {
    for (int i = 0; i < 5; i++) {
      int family = Family();
      op.keys.emplace_back(family, Key(family));
    }
  }
  if (kind == OpKind::kScan) op.snapshot = Snapshot();
  return op;
}

Op Generator::Next() {
  const Profile& p = profile_;
  // Maintenance weights are out of 5,000 operations.
  const std::pair<int, OpKind> rare[] = {{p.scan, OpKind::kScan},
                                         {p.flush, OpKind::kFlush},
                                         {p.compact, OpKind::kCompact},
                                         {p.family_change, OpKind::kCreateFamily},
                                         {p.reopen, OpKind::kReopen},
                                         {p.read_only, OpKind::kReadOnly},
                                         {p.verify_checksum, OpKind::kVerifyChecksum}};
  int rare_roll = static_cast<int>(random_.Uniform(5000));
  for (const auto& [weight, kind] : rare) {
    rare_roll -= weight;
    if (rare_roll >= 0) continue;
    return kind == OpKind::kCreateFamily ? ChangeFamily() : Maintenance(kind);
  }
  int total = p.write + p.batch + p.get + p.multi_get + p.key_may_exist + p.snapshot + p.iterator;
  int roll = static_cast<int>(random_.Uniform(total));
  if ((roll -= p.write) < 0) return Write(false);
  if ((roll -= p.batch) < 0) return Write(true);
  if ((roll -= p.get) < 0) return Read(OpKind::kGet);
  if ((roll -= p.multi_get) < 0) return Read(OpKind::kMultiGet);
  if ((roll -= p.key_may_exist) < 0) return Read(OpKind::kKeyMayExist);
  if ((roll -= p.snapshot) < 0) return ChangeSnapshot();
  return ChangeIterator();
}

}  // namespace compassdb_test
