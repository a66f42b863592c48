// SPDX-License-Identifier: Apache-2.0
//
// Objects that are set up from strings: "name=value; nested={a=1; b=2}". A class takes part by
// overriding ParseNamedOption() and ListNamedOptions(); everything else is built upon these two.
//
// Thread safety: configure an object before sharing it. The const functions may then be called
// concurrently.

#pragma once

#include <atomic>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class Logger;
class ObjectRegistry;
class OptionTypeInfo;
struct ColumnFamilyOptions;
struct ConfigOptions;
struct DBOptions;

class Configurable {
 protected:
  struct RegisteredOptions {
    std::string name;
    void* opt_ptr;
    const std::unordered_map<std::string, OptionTypeInfo>* type_map;
  };

 public:
  virtual ~Configurable() {}

  // The option struct of type T (T::kName() unless a name is given) that this object holds, or
  // null. The struct belongs to the object.
  template <typename T>
  const T* GetOptions() const {
    return GetOptions<T>(T::kName());
  }
  template <typename T>
  T* GetOptions() {
    return GetOptions<T>(T::kName());
  }
  template <typename T>
  const T* GetOptions(const std::string& name) const {
    return reinterpret_cast<const T*>(GetOptionsPtr(name));
  }
  template <typename T>
  T* GetOptions(const std::string& name) {
    return reinterpret_cast<T*>(const_cast<void*>(GetOptionsPtr(name)));
  }

  // Sets the named options. NotFound for a name that does not exist (unless `unused` is given,
  // which then receives such pairs, or config_options ignores unknown options), InvalidArgument for
  // a value that does not parse. Options set before the error keep their new values.
  Status ConfigureFromMap(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opt_map);
  Status ConfigureFromMap(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opt_map,
                          std::unordered_map<std::string, std::string>* unused);

  // Sets one option.
  Status ConfigureOption(const ConfigOptions& config_options, const std::string& name,
                         const std::string& value);

  // Sets the options of a string "name=value; ...".
  Status ConfigureFromString(const ConfigOptions& config_options, const std::string& opts);

  // The string from which ConfigureFromString() makes an equal object.
  Status GetOptionString(const ConfigOptions& config_options, std::string* result) const;

  std::string ToString(const ConfigOptions& config_options) const {
    return ToString(config_options, "");
  }
  // `prefix` precedes each name.
  std::string ToString(const ConfigOptions& config_options, const std::string& prefix) const;

  Status GetOptionNames(const ConfigOptions& config_options,
                        std::unordered_set<std::string>* result) const;

  // The value of one option as a string; NotFound if there is none of that name.
  virtual Status GetOption(const ConfigOptions& config_options, const std::string& name,
                           std::string* value) const;

  // Whether both objects have the same options; if not, *name is one that differs.
  virtual bool AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                             std::string* name) const;

  // A form for people to read, several lines.
  virtual std::string GetPrintableOptions() const { return ""; }

  // Called once after configuration and before use: fills in what depends on several options.
  virtual Status PrepareOptions(const ConfigOptions& config_options);

  // Whether the options of this object suit those of the database and the column family.
  virtual Status ValidateOptions(const DBOptions& db_opts,
                                 const ColumnFamilyOptions& cf_opts) const;

  // Splits "id", "id=x; a=1" or "a=1" (then *id is default_id) into an id and a map of options.
  static Status GetOptionsMap(const std::string& opt_value, const std::string& default_id,
                              std::string* id,
                              std::unordered_map<std::string, std::string>* options);

 protected:
  // The struct behind GetOptions(name); null if there is none.
  virtual const void* GetOptionsPtr(const std::string& name) const;

  // Parse the string, or the map, of ConfigureFrom*().
  virtual Status ParseStringOptions(const ConfigOptions& config_options,
                                    const std::string& opts_str);
  virtual Status ConfigureOptions(const ConfigOptions& config_options,
                                  const std::unordered_map<std::string, std::string>& opts_map,
                                  std::unordered_map<std::string, std::string>* unused);

  // One option of a type map: sets it, or says whether two objects agree in it. NotSupported and false:
  // the library's own classes know their options by name.
  virtual Status ParseOption(const ConfigOptions& config_options, const OptionTypeInfo& opt_info,
                             const std::string& opt_name, const std::string& opt_value,
                             void* opt_ptr);
  virtual bool OptionsAreEqual(const ConfigOptions& config_options,
                               const OptionTypeInfo& opt_info, const std::string& name,
                               const void* const this_ptr, const void* const that_ptr,
                               std::string* bad_name) const;

  // "name=value" pairs, each ended by the delimiter; `header` precedes each name.
  virtual std::string SerializeOptions(const ConfigOptions& config_options,
                                       const std::string& header) const;

  // The name by which this class knows an option that is given with a qualified name.
  virtual std::string GetOptionName(const std::string& long_name) const;

 private:
  // Empty; part of the layout that programs built with RocksDB rely on.
  std::vector<RegisteredOptions> options_;
};

}  // namespace ROCKSDB_NAMESPACE
