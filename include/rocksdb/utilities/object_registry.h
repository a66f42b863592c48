// SPDX-License-Identifier: Apache-2.0
//
// Classes of the application that CreateFromString() can make by name: a factory per class and
// name pattern, in libraries, in registries.
//
// Thread safety: all methods of libraries and registries. Factories are called without locks.

#pragma once

#include <cassert>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class Customizable;
class Logger;
class ObjectLibrary;

// Makes the object of that name. The unique_ptr receives one that the caller owns; an
// object with static lifetime does not. Null, with a message or not, if it cannot be made.
template <typename T>
using FactoryFunc = std::function<T*(const std::string&, std::unique_ptr<T>*, std::string*)>;

// Adds factories to a library; returns how many.
using RegistrarFunc = std::function<int(ObjectLibrary&, const std::string&)>;

// Sets up an object that was just made.
template <typename T>
using ConfigureFunc = std::function<Status(T*)>;

class ObjectLibrary {
 private:
  class Entry {
   public:
    virtual ~Entry() {}
    virtual bool Matches(const std::string& target) const = 0;
    virtual const char* Name() const = 0;
  };

 public:
  // Which names a factory is for: a base name (or another one), then, each once and in this order,
  // separators with what follows them. With `optional` the base name alone matches, too.
  class PatternEntry : public Entry {
   private:
    enum Quantifier {
      kMatchZeroOrMore,   // separator and any text
      kMatchAtLeastOne,   // separator and at least one character
      kMatchExact,        // the separator alone
      kMatchInteger,      // separator and digits, perhaps after "-"
      kMatchDecimal,      // the same, perhaps with a point: "1", "1.5", ".5" and "5."
    };

   public:
    // "name@address#process", as Customizable::GenerateIndividualId() has them.
    static PatternEntry AsIndividualId(const std::string& name) {
      PatternEntry entry(name, true);
      entry.AddSeparator("@");
      entry.AddSeparator("#");
      return entry;
    }

    explicit PatternEntry(const std::string& name, bool optional = true)
        : name_(name), nlength_(name.size()), optional_(optional) {}

    PatternEntry& AddSuffix(const std::string& suffix) { return Append(suffix, kMatchExact); }
    PatternEntry& AddSeparator(const std::string& separator, bool at_least_one = true) {
      return Append(separator, at_least_one ? kMatchAtLeastOne : kMatchZeroOrMore);
    }
    PatternEntry& AddNumber(const std::string& separator, bool is_int = true) {
      return Append(separator, is_int ? kMatchInteger : kMatchDecimal);
    }
    PatternEntry& AnotherName(const std::string& alt) {
      names_.push_back(alt);
      return *this;
    }
    PatternEntry& SetOptional(bool optional) {
      optional_ = optional;
      return *this;
    }

    bool Matches(const std::string& target) const override;
    const char* Name() const override { return name_.c_str(); }

   private:
    PatternEntry& Append(const std::string& separator, Quantifier quantifier) {
      separators_.emplace_back(separator, quantifier);
      const bool follows = quantifier != kMatchExact && quantifier != kMatchZeroOrMore;
      slength_ += separator.size() + (follows ? 1 : 0);
      return *this;
    }
    bool MatchesName(const std::string& target, const std::string& name, size_t length) const;
    bool MatchesFrom(const std::string& target, size_t at) const;

    std::string name_;  // the base name
    size_t nlength_;    // its length
    std::vector<std::string> names_;  // the others
    bool optional_;
    size_t slength_ = 0;  // no separators with what follows them are shorter
    std::vector<std::pair<std::string, Quantifier>> separators_;
  };

 private:
  template <typename T>
  class FactoryEntry : public Entry {
   public:
    FactoryEntry(std::unique_ptr<Entry> entry, FactoryFunc<T> f)
        : entry_(std::move(entry)), factory_(std::move(f)) {}
    bool Matches(const std::string& target) const override { return entry_->Matches(target); }
    const char* Name() const override { return entry_->Name(); }
    const FactoryFunc<T>& GetFactory() const { return factory_; }

   private:
    // Programs that are built with RocksDB's headers make them, too: its members in its order.
    const std::unique_ptr<Entry> entry_;
    const FactoryFunc<T> factory_;
  };

 public:
  explicit ObjectLibrary(const std::string& id) : id_(id) {}

  const std::string& GetID() const { return id_; }

  // The first factory for the name; empty if there is none.
  template <typename T>
  FactoryFunc<T> FindFactory(const std::string& target) const {
    std::lock_guard<std::mutex> lock(mu_);
    const auto factories = factories_.find(T::Type());
    if (factories == factories_.end()) return nullptr;
    for (const auto& entry : factories->second) {
      if (entry->Matches(target)) {
        return static_cast<const FactoryEntry<T>*>(entry.get())->GetFactory();
      }
    }
    return nullptr;
  }

  // Factories of all types, or of one.
  size_t GetFactoryCount(size_t* num_types) const;
  size_t GetFactoryCount(const std::string& type) const;
  // Appended.
  void GetFactoryNames(const std::string& type, std::vector<std::string>* names) const;
  void GetFactoryTypes(std::unordered_set<std::string>* types) const;

  void Dump(Logger* logger) const;

  template <typename T>
  const FactoryFunc<T>& AddFactory(const std::string& name, const FactoryFunc<T>& func) {
    return AddFactory<T>(PatternEntry(name), func);
  }
  template <typename T>
  const FactoryFunc<T>& AddFactory(const PatternEntry& entry, const FactoryFunc<T>& func) {
    std::lock_guard<std::mutex> lock(mu_);
    factories_[T::Type()].push_back(
        std::make_unique<FactoryEntry<T>>(std::make_unique<PatternEntry>(entry), func));
    return func;
  }

  int Register(const RegistrarFunc& registrar, const std::string& arg) {
    return registrar(*this, arg);
  }

  // That of the process-wide registry.
  static std::shared_ptr<ObjectLibrary>& Default();

 private:
  mutable std::mutex mu_;
  std::unordered_map<std::string, std::vector<std::unique_ptr<Entry>>> factories_;  // by type
  const std::string id_;
};

// Libraries, the last added asked first, then the parent's. Also knows objects by id that are
// to be shared; it does not keep them alive.
class ObjectRegistry {
 public:
  // A child of the process-wide registry, or of another one.
  static std::shared_ptr<ObjectRegistry> NewInstance();
  static std::shared_ptr<ObjectRegistry> NewInstance(
      const std::shared_ptr<ObjectRegistry>& parent);
  static std::shared_ptr<ObjectRegistry> Default();
  explicit ObjectRegistry(const std::shared_ptr<ObjectRegistry>& parent) : parent_(parent) {}
  explicit ObjectRegistry(const std::shared_ptr<ObjectLibrary>& library);

  std::shared_ptr<ObjectLibrary> AddLibrary(const std::string& id) {
    auto library = std::make_shared<ObjectLibrary>(id);
    AddLibrary(library);
    return library;
  }
  void AddLibrary(const std::shared_ptr<ObjectLibrary>& library) {
    std::lock_guard<std::mutex> lock(library_mutex_);
    libraries_.push_back(library);
  }
  void AddLibrary(const std::string& id, const RegistrarFunc& registrar, const std::string& arg) {
    AddLibrary(id)->Register(registrar, arg);
  }

  // NotSupported without a factory, InvalidArgument if the factory gives nothing. *guard is set if
  // the object is the caller's.
  template <typename T>
  Status NewObject(const std::string& target, T** object, std::unique_ptr<T>* guard) {
    assert(guard != nullptr);
    guard->reset();
    const auto factory = FindFactory<T>(target);
    if (factory == nullptr) {
      return Status::NotSupported(std::string("Could not load ") + T::Type(), target);
    }
    std::string message;
    *object = factory(target, guard, &message);
    if (*object != nullptr) return Status::OK();
    if (message.empty()) message = std::string("Could not load ") + T::Type();
    return Status::InvalidArgument(message, target);
  }

  // The object must be the caller's for the first two, must not be for the third: otherwise
  // InvalidArgument.
  template <typename T>
  Status NewUniqueObject(const std::string& target, std::unique_ptr<T>* result) {
    return NewGuarded<T>(target, "unique", result);
  }
  template <typename T>
  Status NewSharedObject(const std::string& target, std::shared_ptr<T>* result) {
    return NewGuarded<T>(target, "shared", result);
  }
  template <typename T>
  Status NewStaticObject(const std::string& target, T** result) {
    std::unique_ptr<T> guard;
    T* object = nullptr;
    Status s = NewObject(target, &object, &guard);
    if (!s.ok()) return s;
    if (guard != nullptr) {
      return Status::InvalidArgument(
          std::string("Cannot make a static ") + T::Type() + " from a guarded one ", target);
    }
    *result = object;
    return s;
  }

  // InvalidArgument if another living object has the id.
  template <typename T>
  Status SetManagedObject(const std::shared_ptr<T>& object) {
    assert(object != nullptr);
    return SetManagedObject(object->GetId(), object);
  }
  template <typename T>
  Status SetManagedObject(const std::string& id, const std::shared_ptr<T>& object) {
    return SetManagedObject(T::Type(), id, std::static_pointer_cast<Customizable>(object));
  }

  // Null if there is none, here or in the parents.
  template <typename T>
  std::shared_ptr<T> GetManagedObject(const std::string& id) const {
    return std::static_pointer_cast<T>(GetManagedObject(T::Type(), id));
  }

  // Those whose id or name is `id`; all for an empty one.
  template <typename T>
  Status ListManagedObjects(const std::string& id,
                            std::vector<std::shared_ptr<T>>* results) const {
    std::vector<std::shared_ptr<Customizable>> found;
    results->clear();
    Status s = ListManagedObjects(T::Type(), id, &found);
    for (const auto& object : found) results->push_back(std::static_pointer_cast<T>(object));
    return s;
  }
  template <typename T>
  Status ListManagedObjects(std::vector<std::shared_ptr<T>>* results) const {
    return ListManagedObjects("", results);
  }

  // The object of that id or else a new one, which cfunc sets up.
  template <typename T>
  Status GetOrCreateManagedObject(const std::string& id, std::shared_ptr<T>* result,
                                  const ConfigureFunc<T>& cfunc = nullptr) {
    if (auto found = GetManagedObject(T::Type(), id)) {
      *result = std::static_pointer_cast<T>(found);
      return Status::OK();
    }
    std::shared_ptr<T> object;
    Status s = NewSharedObject(id, &object);
    if (s.ok() && cfunc != nullptr) s = cfunc(object.get());
    if (!s.ok()) return s;
    // Another thread may have been first.
    *result = std::static_pointer_cast<T>(
        ManageUnlessThere(T::Type(), id, std::static_pointer_cast<Customizable>(object)));
    return s;
  }

  // For all libraries and parents; as those of ObjectLibrary. GetFactoryNames replaces the list.
  size_t GetFactoryCount(const std::string& type) const;
  void GetFactoryNames(const std::string& type, std::vector<std::string>* names) const;
  void GetFactoryTypes(std::unordered_set<std::string>* types) const;

  void Dump(Logger* logger) const;

  // Adds what the function registers, as a library of that name, unless a plugin of the name is
  // there. Returns the number of its factories; -1 for an empty name or function.
  int RegisterPlugin(const std::string& name, const RegistrarFunc& func);

 private:
  template <typename T, typename Pointer>
  Status NewGuarded(const std::string& target, const char* kind, Pointer* result) {
    std::unique_ptr<T> guard;
    T* object = nullptr;
    Status s = NewObject(target, &object, &guard);
    if (!s.ok()) return s;
    if (guard == nullptr) {
      return Status::InvalidArgument(
          std::string("Cannot make a ") + kind + " " + T::Type() + " from unguarded one ", target);
    }
    *result = std::move(guard);
    return s;
  }

  template <typename T>
  FactoryFunc<T> FindFactory(const std::string& name) const {
    {
      std::lock_guard<std::mutex> lock(library_mutex_);
      for (auto library = libraries_.crbegin(); library != libraries_.crend(); ++library) {
        auto factory = (*library)->FindFactory<T>(name);
        if (factory != nullptr) return factory;
      }
    }
    return parent_ == nullptr ? nullptr : parent_->FindFactory<T>(name);
  }

  std::shared_ptr<Customizable> GetManagedObject(const std::string& type,
                                                 const std::string& id) const;
  Status ListManagedObjects(const std::string& type, const std::string& id,
                            std::vector<std::shared_ptr<Customizable>>* results) const;
  Status SetManagedObject(const std::string& type, const std::string& id,
                          const std::shared_ptr<Customizable>& object);
  std::shared_ptr<Customizable> ManageUnlessThere(const std::string& type, const std::string& id,
                                                  std::shared_ptr<Customizable> object);

  // RocksDB's members in its order: templates that were compiled with its header use them.
  std::vector<std::shared_ptr<ObjectLibrary>> libraries_;
  std::vector<std::string> plugins_;
  std::map<std::string, std::weak_ptr<Customizable>> objects_;  // by "type://id"
  const std::shared_ptr<ObjectRegistry> parent_;
  mutable std::mutex objects_mutex_;
  mutable std::mutex library_mutex_;
};

}  // namespace ROCKSDB_NAMESPACE
