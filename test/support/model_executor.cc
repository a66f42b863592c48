// SPDX-License-Identifier: Apache-2.0
#include "support/model_executor.h"

#include "support/text.h"

namespace compassdb_test {

const char kAbsent[] = "NotFound";

std::string ShowFound(const std::string& value) { return "=" + Show(value); }

std::string ShowScan(const Entries& entries) {
  uint64_t hash = 0;
  for (const auto& [key, value] : entries) {
    hash = HashBytes(value, HashBytes(key, hash * 31 + key.size()));
  }
  return "entries=" + std::to_string(entries.size()) + " hash=" + std::to_string(hash);
}

Entries ModelExecutor::Dump(int family, int snapshot) const {
  return model_.Scan(family, ReadSequence(snapshot));
}

void ModelExecutor::ReleaseIterator(int slot) {
  model_.Unpin(iterators_[slot]->sequence);
  iterators_[slot].reset();
}

void ModelExecutor::ReleaseAll() {
  for (int slot = 0; slot < kMaxIterators; slot++) {
    if (iterators_[slot]) ReleaseIterator(slot);
  }
  for (auto& snapshot : snapshots_) {
    if (snapshot) model_.Unpin(*snapshot);
    snapshot.reset();
  }
}

std::string ModelExecutor::Run(const Op& op) {
  switch (op.kind) {
    case OpKind::kWrite: model_.Write(op.items); return "OK";
    case OpKind::kGet:
    case OpKind::kMultiGet:
    case OpKind::kReadOnly: {
      if (op.kind == OpKind::kReadOnly) ReleaseAll();
      std::string out;
      for (const auto& [family, key] : op.keys) {
        auto value = model_.Get(family, key, ReadSequence(op.snapshot));
        out += value ? ShowFound(*value) : kAbsent;
        out += " ";
      }
      return op.kind == OpKind::kReadOnly ? out + "NotSupported" : out;
    }
    case OpKind::kKeyMayExist: return "consistent";
    case OpKind::kTakeSnapshot:
      snapshots_[op.slot] = model_.sequence();
      model_.Pin(model_.sequence());
      return "OK";
    case OpKind::kReleaseSnapshot:
      model_.Unpin(*snapshots_[op.slot]);
      snapshots_[op.slot].reset();
      return "OK";
    case OpKind::kNewIterator: {
      IteratorState it;
      it.family = op.family;
      it.sequence = ReadSequence(op.snapshot);
      it.at_snapshot = op.snapshot != kNoSnapshot;
      it.spec = op.iterator;
      model_.Pin(it.sequence);
      iterators_[op.slot] = it;
      [[fallthrough]];
    }
    case OpKind::kMoveIterator: {
      std::string out;
      for (const IteratorMove& move : op.moves) Move(move, &*iterators_[op.slot], &out);
      return out;
    }
    case OpKind::kReleaseIterator: ReleaseIterator(op.slot); return "OK";
    case OpKind::kScan: {
      std::string once = ShowScan(Dump(op.family, op.snapshot));
      return once + " backward=equal";
    }
    case OpKind::kCreateFamily: model_.CreateFamily(op.family); return "OK";
    case OpKind::kDropFamily: model_.DropFamily(op.family); return "OK";
    case OpKind::kReopen: ReleaseAll(); return "OK";
    case OpKind::kFlush:
    case OpKind::kCompact:
    case OpKind::kVerifyChecksum: return "OK";
  }
  return "?";
}

void ModelExecutor::Move(const IteratorMove& move, IteratorState* it, std::string* out) {
  using Kind = IteratorMove::Kind;
  if (move.kind == Kind::kRefresh) {
    if (!it->at_snapshot) {
      model_.Unpin(it->sequence);
      it->sequence = model_.sequence();
      model_.Pin(it->sequence);
    }
    it->position.reset();
    *out += "refreshed;";
    return;
  }
  bool step = move.kind == Kind::kNext || move.kind == Kind::kPrev;
  for (int i = 0; i < move.count; i++) {
    if (step && !it->position) break;
    Position(move, it);
    Restrict(it);
    if (it->position) {
      *out += Show(it->position->first) + ShowFound(it->position->second) + ";";
    } else {
      *out += "end;";
    }
  }
}

// Moves by the family's order and the bounds; prefix rule in Restrict.
void ModelExecutor::Position(const IteratorMove& move, IteratorState* it) {
  using Kind = IteratorMove::Kind;
  const IteratorSpec& spec = it->spec;
  auto below = [&](const std::string& key) {
    return spec.has_lower && model_.Less(it->family, key, spec.lower);
  };
  auto at_or_above_end = [&](const std::string& key) {
    return spec.has_upper && !model_.Less(it->family, key, spec.upper);
  };
  std::string from = move.key;
  switch (move.kind) {
    case Kind::kSeek:
      it->prefix = move.key.substr(0, kPrefixLength);
      if (below(from)) from = spec.lower;
      it->position = model_.AtOrAfter(it->family, &from, false, it->sequence);
      break;
    case Kind::kSeekForPrev: {
      it->prefix = move.key.substr(0, kPrefixLength);
      bool clamp = at_or_above_end(from);
      if (clamp) from = spec.upper;
      it->position = model_.AtOrBefore(it->family, &from, clamp, it->sequence);
      break;
    }
    case Kind::kFirst:
      it->position = model_.AtOrAfter(it->family, spec.has_lower ? &spec.lower : nullptr, false,
                                      it->sequence);
      break;
    case Kind::kLast:
      it->position = model_.AtOrBefore(it->family, spec.has_upper ? &spec.upper : nullptr, true,
                                       it->sequence);
      break;
    case Kind::kNext:
      from = it->position->first;
      it->position = model_.AtOrAfter(it->family, &from, true, it->sequence);
      break;
    case Kind::kPrev:
      from = it->position->first;
      it->position = model_.AtOrBefore(it->family, &from, true, it->sequence);
      break;
    case Kind::kRefresh: break;
  }
}

void ModelExecutor::Restrict(IteratorState* it) const {
  if (!it->position) return;
  const std::string& key = it->position->first;
  const IteratorSpec& spec = it->spec;
  bool outside = (spec.has_lower && model_.Less(it->family, key, spec.lower)) ||
                 (spec.has_upper && !model_.Less(it->family, key, spec.upper)) ||
                 (spec.prefix_same_as_start && key.substr(0, kPrefixLength) != it->prefix);
  if (outside) it->position.reset();
}

}  // namespace compassdb_test
