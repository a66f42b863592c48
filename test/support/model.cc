// SPDX-License-Identifier: Apache-2.0
#include "support/model.h"

namespace compassdb_test {

Model::Model(std::vector<FamilySpec> specs) : specs_(std::move(specs)) {
  families_.resize(specs_.size());
  CreateFamily(0);
}

void Model::CreateFamily(int family) {
  families_[family] = std::make_unique<Table>(KeyLess{specs_[family].reverse_order});
}

void Model::DropFamily(int family) { families_[family].reset(); }

std::vector<WriteItem> EffectiveItems(const std::vector<WriteItem>& items) {
  std::vector<WriteItem> effective;
  std::vector<size_t> save_points;
  for (const WriteItem& item : items) {
    switch (item.kind) {
      case WriteItem::Kind::kSetSavePoint: save_points.push_back(effective.size()); break;
      case WriteItem::Kind::kRollback:
        effective.resize(save_points.back());
        save_points.pop_back();
        break;
      case WriteItem::Kind::kPopSavePoint: save_points.pop_back(); break;
      default: effective.push_back(item);
    }
  }
  return effective;
}

void Model::Write(const std::vector<WriteItem>& items) {
  for (const WriteItem& item : EffectiveItems(items)) Apply(item);
}

void Model::Apply(const WriteItem& item) {
  if (item.kind == WriteItem::Kind::kLogData) return;
  sequence_++;
  Table& table = *families_[item.family];
  const FamilySpec& spec = specs_[item.family];
  switch (item.kind) {
    case WriteItem::Kind::kPut: {
      std::string value = item.value;
      if (NormalizeFiltered(spec, &value)) {
        SetVersion(&table[item.key], std::move(value));
      } else {
        SetVersion(&table[item.key], std::nullopt);
      }
      break;
    }
    case WriteItem::Kind::kDelete:
    case WriteItem::Kind::kSingleDelete: {
      auto found = table.find(item.key);
      if (found != table.end()) SetVersion(&found->second, std::nullopt);
      break;
    }
    case WriteItem::Kind::kDeleteRange: {
      auto end = table.lower_bound(item.value);
      KeyLess less{spec.reverse_order};
      if (!less(item.key, item.value)) break;
      for (auto it = table.lower_bound(item.key); it != end; ++it) {
        SetVersion(&it->second, std::nullopt);
      }
      break;
    }
    case WriteItem::Kind::kMerge: {
      std::vector<Version>& versions = table[item.key];
      const std::string* base = Visible(versions, sequence_);
      SetVersion(&versions, MergeStep(spec.merge, base, item.value));
      break;
    }
    default: break;
  }
}

void Model::SetVersion(std::vector<Version>* versions, std::optional<std::string> value) {
  if (!value && (versions->empty() || !versions->back().value)) return;
  versions->push_back({sequence_, std::move(value)});
  // Version i is seen by sequences in [its own, the next version's own).
  size_t kept = 0;
  for (size_t i = 0; i < versions->size(); i++) {
    bool newest = i + 1 == versions->size();
    if (!newest) {
      auto pin = pins_.lower_bound((*versions)[i].sequence);
      if (pin == pins_.end() || *pin >= (*versions)[i + 1].sequence) continue;
    }
    if (kept != i) (*versions)[kept] = std::move((*versions)[i]);
    kept++;
  }
  versions->resize(kept);
}

const std::string* Model::Visible(const std::vector<Version>& versions, uint64_t sequence) {
  for (size_t i = versions.size(); i-- > 0;) {
    if (versions[i].sequence <= sequence) {
      return versions[i].value ? &*versions[i].value : nullptr;
    }
  }
  return nullptr;
}

std::optional<std::string> Model::Get(int family, const std::string& key,
                                      uint64_t sequence) const {
  const Table& table = *families_[family];
  auto found = table.find(key);
  if (found == table.end()) return std::nullopt;
  const std::string* value = Visible(found->second, sequence);
  return value == nullptr ? std::nullopt : std::optional<std::string>(*value);
}

Entries Model::Scan(int family, uint64_t sequence) const {
  Entries entries;
  for (const auto& [key, versions] : *families_[family]) {
    const std::string* value = Visible(versions, sequence);
    if (value != nullptr) entries.emplace_back(key, *value);
  }
  return entries;
}


Model::Entry Model::AtOrAfter(int family, const std::string* key, bool strict,
                              uint64_t sequence) const {
  const Table& table = *families_[family];
  auto it = key == nullptr ? table.begin()
                           : (strict ? table.upper_bound(*key) : table.lower_bound(*key));
  for (; it != table.end(); ++it) {
    const std::string* value = Visible(it->second, sequence);
    if (value != nullptr) return std::make_pair(it->first, *value);
  }
  return std::nullopt;
}

Model::Entry Model::AtOrBefore(int family, const std::string* key, bool strict,
                               uint64_t sequence) const {
  const Table& table = *families_[family];
  auto it = key == nullptr ? table.end()
                           : (strict ? table.lower_bound(*key) : table.upper_bound(*key));
  while (it != table.begin()) {
    --it;
    const std::string* value = Visible(it->second, sequence);
    if (value != nullptr) return std::make_pair(it->first, *value);
  }
  return std::nullopt;
}

bool Model::Less(int family, const std::string& a, const std::string& b) const {
  return KeyLess{specs_[family].reverse_order}(a, b);
}

}  // namespace compassdb_test
