// SPDX-License-Identifier: Apache-2.0
// What the CreateFromString functions have in common: objects of classes that the application
// registered, of our own, and of unknown ones.
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include "api/option_string.h"
#include "rocksdb/config_options.h"
#include "rocksdb/customizable.h"
#include "rocksdb/utilities/object_registry.h"

namespace compassdb {

inline std::shared_ptr<rocksdb::ObjectRegistry> RegistryOf(const rocksdb::ConfigOptions& config) {
  return config.registry != nullptr ? config.registry : rocksdb::ObjectRegistry::Default();
}

// Whether the configuration passes over an option whose value gave `s`. In RocksDB a value that is
// unknown counts as an unknown option, too.
inline bool IsPassedOver(const rocksdb::ConfigOptions& config, const rocksdb::Status& s) {
  return (s.IsNotSupported() && config.ignore_unsupported_options) ||
         (config.ignore_unknown_options && !config.mutable_options_only);
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

// The answer to a text without an id where an object is needed.
inline rocksdb::Status CannotReset() {
  return rocksdb::Status::NotSupported("Cannot reset object");
}

// CreateFromString of a class T without rules of its own. Text that names no class takes that of
// the object in *result; options of the same class that it does not name keep their values.
// `built_in(id, &made)` makes an object of our own, or leaves it null. `Pointer` is a shared_ptr
// or, for objects without an owner, a pointer.
template <typename T, typename Pointer, typename BuiltIn>
rocksdb::Status LoadObject(const rocksdb::ConfigOptions& config, const char* kind,
                           const std::string& text, const BuiltIn& built_in, Pointer* result) {
  using Class = std::remove_const_t<std::remove_reference_t<decltype(**result)>>;
  std::string id;
  OptionMap options;
  const Class* const present = *result == nullptr ? nullptr : &**result;
  rocksdb::Status s = rocksdb::Customizable::GetOptionsMap(config, present, text, &id, &options);
  if (!s.ok()) return s;
  Pointer made = nullptr;
  if (id.empty()) {
    if (!options.empty()) return CannotReset();
    *result = made;
    return s;
  }
  bool registered;
  if constexpr (std::is_pointer_v<Pointer>) {
    registered = FindRegistered<T>(config, id, &made, &s);
  } else {
    registered = NewRegistered<T>(config, id, &made, &s);
  }
  if (!registered) s = built_in(id, &made);
  if (!s.ok()) return s;
  if (made == nullptr) return UnknownObject(config, kind, id);
  *result = made;
  return rocksdb::Customizable::ConfigureNewObject(config, const_cast<Class*>(&*made), options);
}

// For classes without objects of our own.
inline constexpr auto kNoneBuiltIn = [](const std::string&, auto*) {
  return rocksdb::Status::OK();
};

}  // namespace compassdb
