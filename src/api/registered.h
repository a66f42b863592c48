// SPDX-License-Identifier: Apache-2.0
// Objects of classes that the application registered, for CreateFromString.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/config_options.h"
#include "rocksdb/utilities/object_registry.h"

namespace compassdb {

inline std::shared_ptr<rocksdb::ObjectRegistry> RegistryOf(const rocksdb::ConfigOptions& config) {
  return config.registry != nullptr ? config.registry : rocksdb::ObjectRegistry::Default();
}

// The result of CreateFromString for an unknown id: with `ignore_unsupported_options`, the
// default, OK, and the caller's object stays what it was.
inline rocksdb::Status UnknownObject(const rocksdb::ConfigOptions& config, const char* kind,
                                     const std::string& id) {
  if (config.ignore_unsupported_options) return rocksdb::Status::OK();
  return rocksdb::Status::NotSupported(std::string("Could not load ") + kind, id);
}

// False if no factory is registered for the id; otherwise *s is what came of it.
template <typename T, typename Shared>
bool NewRegistered(const rocksdb::ConfigOptions& config, const std::string& id,
                   std::shared_ptr<Shared>* result, rocksdb::Status* s) {
  std::shared_ptr<T> made;
  *s = RegistryOf(config)->NewSharedObject<T>(id, &made);
  if (s->IsNotSupported()) return false;
  if (s->ok()) *result = std::move(made);
  return true;
}

// The same for objects without an owner.
template <typename T, typename Pointer>
bool FindRegistered(const rocksdb::ConfigOptions& config, const std::string& id, Pointer* result,
                    rocksdb::Status* s) {
  T* made = nullptr;
  *s = RegistryOf(config)->NewStaticObject<T>(id, &made);
  if (s->IsNotSupported()) return false;
  if (s->ok()) *result = made;
  return true;
}

}  // namespace compassdb
