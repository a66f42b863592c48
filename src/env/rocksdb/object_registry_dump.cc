// SPDX-License-Identifier: Apache-2.0
// What is registered, as lines of a log: loggers are of this layer.
#include "rocksdb/env.h"
#include "rocksdb/utilities/object_registry.h"

namespace ROCKSDB_NAMESPACE {

void ObjectLibrary::Dump(Logger* logger) const {
  std::lock_guard<std::mutex> lock(mu_);
  const std::map<std::string, const std::vector<std::unique_ptr<Entry>>*> sorted = [this] {
    std::map<std::string, const std::vector<std::unique_ptr<Entry>>*> by_type;
    for (const auto& [type, entries] : factories_) by_type[type] = &entries;
    return by_type;
  }();
  for (const auto& [type, entries] : sorted) {
    std::string line = "    Registered factories for type[" + type + "]:";
    for (const auto& entry : *entries) line += std::string(" ") + entry->Name();
    if (logger != nullptr) Log(logger, "%s", line.c_str());
  }
}

void ObjectRegistry::Dump(Logger* logger) const {
  {
    std::lock_guard<std::mutex> lock(library_mutex_);
    for (const std::string& plugin : plugins_) {
      if (logger != nullptr) Log(logger, "    Registered plugin: %s", plugin.c_str());
    }
    for (auto library = libraries_.crbegin(); library != libraries_.crend(); ++library) {
      if (logger != nullptr) {
        Log(logger, "    Registered library: %s", (*library)->GetID().c_str());
      }
      (*library)->Dump(logger);
    }
  }
  if (parent_ != nullptr) parent_->Dump(logger);
}

}  // namespace ROCKSDB_NAMESPACE
