// SPDX-License-Identifier: Apache-2.0
//
// Configurable objects with a name, made by CreateFromString(): comparators, merge operators,
// caches, table factories and so on. A wrapper says by Inner() what it wraps.

#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "rocksdb/configurable.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class Customizable : public Configurable {
 public:
  ~Customizable() override {}

  // The name of the class. Written into options files, so it must not change.
  virtual const char* Name() const = 0;

  // From which CreateFromString() makes such an object again; the name, unless the object has
  // parameters ("rocksdb.FixedPrefix.8").
  virtual std::string GetId() const { return Name(); }

  // Whether `name` is the name or the nickname of this object's class.
  virtual bool IsInstanceOf(const std::string& name) const {
    if (name.empty()) return false;
    if (name == Name()) return true;
    const char* nickname = NickName();
    return nickname != nullptr && name == nickname;
  }

  // Asks the wrapped object if this one does not hold the options.
  const void* GetOptionsPtr(const std::string& name) const override {
    const void* own = Configurable::GetOptionsPtr(name);
    if (own != nullptr || Inner() == nullptr) return own;
    return Inner()->GetOptionsPtr(name);
  }

  // This object, or the first that it wraps, as a T (by T::kClassName()); null if there is none.
  template <typename T>
  const T* CheckedCast() const {
    if (IsInstanceOf(T::kClassName())) return static_cast<const T*>(this);
    return Inner() != nullptr ? Inner()->template CheckedCast<T>() : nullptr;
  }
  template <typename T>
  T* CheckedCast() {
    return const_cast<T*>(static_cast<const Customizable*>(this)->template CheckedCast<T>());
  }

  // Two objects of different ids are never equivalent.
  bool AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                     std::string* mismatch) const override;

  // The option "id" is GetId().
  Status GetOption(const ConfigOptions& config_options, const std::string& name,
                   std::string* value) const override;

  // Splits opt_value into id and options, taking both from `custom` (may be null) where they are
  // not given and the id is the same.
  static Status GetOptionsMap(const ConfigOptions& config_options, const Customizable* custom,
                              const std::string& opt_value, std::string* id,
                              std::unordered_map<std::string, std::string>* options);

  // Configures a fresh object; options for no object (null) are InvalidArgument.
  static Status ConfigureNewObject(const ConfigOptions& config_options, Customizable* object,
                                   const std::unordered_map<std::string, std::string>& options);

  // The wrapped object, or null. It stays owned by this one.
  virtual const Customizable* Inner() const { return nullptr; }

 protected:
  // An id that no other object has: name, address, and a number drawn by this process.
  std::string GenerateIndividualId() const;

  // A second, shorter name; null or empty if there is none.
  virtual const char* NickName() const { return ""; }

  std::string GetOptionName(const std::string& long_name) const override;

  std::string SerializeOptions(const ConfigOptions& options,
                               const std::string& prefix) const override;
};

}  // namespace ROCKSDB_NAMESPACE
