// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/utilities/object_registry.h"

#include <algorithm>

#include "rocksdb/customizable.h"
#include "util/process.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {
namespace {

std::string KeyOf(const std::string& type, const std::string& id) { return type + "://" + id; }

}  // namespace

// What follows a separator ends where the next one is found first, after at least one character. As
// in RocksDB, no other place is tried.
bool ObjectLibrary::PatternEntry::MatchesFrom(const std::string& target, size_t at) const {
  for (size_t i = 0; i < separators_.size(); ++i) {
    const auto& [text, quantifier] = separators_[i];
    if (target.compare(at, text.size(), text) != 0) return false;
    at += text.size();
    if (quantifier == kMatchExact) continue;
    const bool last = i + 1 == separators_.size();
    const size_t end = last ? target.size() : target.find(separators_[i + 1].first, at + 1);
    if (end == std::string::npos || (end == at && quantifier != kMatchZeroOrMore)) return false;
    const bool number = quantifier == kMatchInteger || quantifier == kMatchDecimal;
    if (number && !compassdb::IsNumber(target.substr(at, end - at), quantifier == kMatchDecimal)) {
      return false;
    }
    at = end;
  }
  return at == target.size();
}

bool ObjectLibrary::PatternEntry::MatchesName(const std::string& target, const std::string& name,
                                              size_t length) const {
  if (target.compare(0, length, name) != 0) return false;
  if (target.size() == length) return optional_ || separators_.empty();
  return !separators_.empty() && target.size() >= length + slength_ &&
         MatchesFrom(target, length);
}

bool ObjectLibrary::PatternEntry::Matches(const std::string& target) const {
  return MatchesName(target, name_, nlength_) ||
         std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
           return MatchesName(target, name, name.size());
         });
}

ObjectRegistry::ObjectRegistry(const std::shared_ptr<ObjectLibrary>& library) {
  libraries_.push_back(library);
}

size_t ObjectLibrary::GetFactoryCount(size_t* num_types) const {
  std::lock_guard<std::mutex> lock(mu_);
  *num_types = factories_.size();
  size_t n = 0;
  for (const auto& [type, entries] : factories_) n += entries.size();
  return n;
}

size_t ObjectLibrary::GetFactoryCount(const std::string& type) const {
  std::lock_guard<std::mutex> lock(mu_);
  const auto entries = factories_.find(type);
  return entries == factories_.end() ? 0 : entries->second.size();
}

void ObjectLibrary::GetFactoryNames(const std::string& type,
                                    std::vector<std::string>* names) const {
  std::lock_guard<std::mutex> lock(mu_);
  const auto entries = factories_.find(type);
  if (entries == factories_.end()) return;
  for (const auto& entry : entries->second) names->push_back(entry->Name());
}

void ObjectLibrary::GetFactoryTypes(std::unordered_set<std::string>* types) const {
  std::lock_guard<std::mutex> lock(mu_);
  for (const auto& [type, entries] : factories_) types->insert(type);
}

std::shared_ptr<ObjectLibrary>& ObjectLibrary::Default() {
  static auto* const library = [] {
    auto* const made = new std::shared_ptr<ObjectLibrary>(std::make_shared<ObjectLibrary>("default"));
    compassdb::RenewedInChildren(&(*made)->mu_);
    return made;
  }();
  return *library;
}

std::shared_ptr<ObjectRegistry> ObjectRegistry::Default() {
  static auto* const registry = [] {
    auto* const made = new std::shared_ptr<ObjectRegistry>(
        std::make_shared<ObjectRegistry>(ObjectLibrary::Default()));
    compassdb::RenewedInChildren(&(*made)->objects_mutex_);
    compassdb::RenewedInChildren(&(*made)->library_mutex_);
    return made;
  }();
  return *registry;
}

std::shared_ptr<ObjectRegistry> ObjectRegistry::NewInstance() {
  return std::make_shared<ObjectRegistry>(Default());
}

std::shared_ptr<ObjectRegistry> ObjectRegistry::NewInstance(
    const std::shared_ptr<ObjectRegistry>& parent) {
  return std::make_shared<ObjectRegistry>(parent);
}

std::shared_ptr<Customizable> ObjectRegistry::GetManagedObject(const std::string& type,
                                                               const std::string& id) const {
  {
    std::lock_guard<std::mutex> lock(objects_mutex_);
    const auto found = objects_.find(KeyOf(type, id));
    if (found != objects_.end()) {
      if (auto object = found->second.lock()) return object;
    }
  }
  return parent_ == nullptr ? nullptr : parent_->GetManagedObject(type, id);
}

Status ObjectRegistry::ListManagedObjects(
    const std::string& type, const std::string& id,
    std::vector<std::shared_ptr<Customizable>>* results) const {
  {
    std::lock_guard<std::mutex> lock(objects_mutex_);
    const std::string prefix = KeyOf(type, "");
    for (auto it = objects_.lower_bound(prefix); it != objects_.end() && it->first.starts_with(prefix); ++it) {
      const auto& [key, held] = *it;
      const auto object = held.lock();
      if (object != nullptr && (id.empty() || key == prefix + id || object->IsInstanceOf(id))) {
        results->push_back(object);
      }
    }
  }
  return parent_ == nullptr ? Status::OK() : parent_->ListManagedObjects(type, id, results);
}

Status ObjectRegistry::SetManagedObject(const std::string& type, const std::string& id,
                                        const std::shared_ptr<Customizable>& object) {
  const auto there = GetManagedObject(type, id);
  if (there != nullptr && there != object) {
    return Status::InvalidArgument("Object already exists: ", KeyOf(type, id));
  }
  std::lock_guard<std::mutex> lock(objects_mutex_);
  objects_[KeyOf(type, id)] = object;
  return Status::OK();
}

std::shared_ptr<Customizable> ObjectRegistry::ManageUnlessThere(
    const std::string& type, const std::string& id, std::shared_ptr<Customizable> object) {
  std::lock_guard<std::mutex> lock(objects_mutex_);
  const std::string name = object->Name(), own_id = object->GetId();
  // An object with its class's name alone is not one particular object.
  if (id != name) {
    std::weak_ptr<Customizable>& held = objects_[KeyOf(type, id)];
    if (auto there = held.lock()) return there;
    held = object;
  }
  if (own_id != id && own_id != name) objects_[KeyOf(type, own_id)] = object;
  return object;
}

size_t ObjectRegistry::GetFactoryCount(const std::string& type) const {
  size_t n = parent_ == nullptr ? 0 : parent_->GetFactoryCount(type);
  std::lock_guard<std::mutex> lock(library_mutex_);
  for (const auto& library : libraries_) n += library->GetFactoryCount(type);
  return n;
}

void ObjectRegistry::GetFactoryNames(const std::string& type,
                                     std::vector<std::string>* names) const {
  names->clear();
  if (parent_ != nullptr) parent_->GetFactoryNames(type, names);
  std::lock_guard<std::mutex> lock(library_mutex_);
  for (const auto& library : libraries_) library->GetFactoryNames(type, names);
}

void ObjectRegistry::GetFactoryTypes(std::unordered_set<std::string>* types) const {
  if (parent_ != nullptr) parent_->GetFactoryTypes(types);
  std::lock_guard<std::mutex> lock(library_mutex_);
  for (const auto& library : libraries_) library->GetFactoryTypes(types);
}

int ObjectRegistry::RegisterPlugin(const std::string& name, const RegistrarFunc& func) {
  if (name.empty() || func == nullptr) return -1;
  {
    std::lock_guard<std::mutex> lock(library_mutex_);
    if (std::find(plugins_.begin(), plugins_.end(), name) != plugins_.end()) return -1;
    plugins_.push_back(name);
  }
  return AddLibrary(name)->Register(func, name);
}

}  // namespace ROCKSDB_NAMESPACE
