// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/utilities/object_registry.h"

#include <algorithm>

#include "rocksdb/customizable.h"
#include "util/c_locale.h"
#include "util/process.h"

namespace ROCKSDB_NAMESPACE {
namespace {

std::string KeyOf(const std::string& type, const std::string& id) { return type + "://" + id; }

// The end of the number that begins at `at`; npos if there is none.
size_t EndOfNumber(const std::string& text, size_t at, bool may_have_point) {
  const size_t begin = at;
  size_t digits = 0;
  bool point = false;
  for (; at < text.size(); ++at) {
    if (compassdb::IsAsciiDigit(text[at])) {
      ++digits;
    } else if (text[at] == '-' && at == begin) {
      continue;
    } else if (text[at] == '.' && may_have_point && !point && digits > 0) {
      point = true;
    } else {
      break;
    }
  }
  const bool complete = digits > 0 && text[at - 1] != '.';
  return complete ? at : std::string::npos;
}

}  // namespace

bool ObjectLibrary::PatternEntry::MatchesFrom(const std::string& target, size_t at,
                                              size_t separator) const {
  if (separator == separators_.size()) return at == target.size();
  const auto& [text, quantifier] = separators_[separator];
  if (target.compare(at, text.size(), text) != 0) return false;
  at += text.size();
  if (quantifier == kMatchExact) return MatchesFrom(target, at, separator + 1);
  if (quantifier == kMatchInteger || quantifier == kMatchDecimal) {
    const size_t end = EndOfNumber(target, at, quantifier == kMatchDecimal);
    return end != std::string::npos && MatchesFrom(target, end, separator + 1);
  }
  // Any text, up to the place where the rest matches.
  for (size_t end = at + (quantifier == kMatchAtLeastOne ? 1 : 0); end <= target.size(); ++end) {
    if (MatchesFrom(target, end, separator + 1)) return true;
  }
  return false;
}

bool ObjectLibrary::PatternEntry::MatchesName(const std::string& target, const std::string& name,
                                              size_t length) const {
  if (target.compare(0, length, name) != 0) return false;
  if (target.size() == length && (optional_ || separators_.empty())) return true;
  return !separators_.empty() && target.size() >= length + slength_ &&
         MatchesFrom(target, length, 0);
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
