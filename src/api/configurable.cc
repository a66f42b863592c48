// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/configurable.h"

#include <algorithm>
#include <random>

#include "api/foreign_cast.h"
#include "api/named_options.h"
#include "api/option_string.h"
#include "api/registered.h"
#include "rocksdb/config_options.h"
#include "rocksdb/customizable.h"

namespace ROCKSDB_NAMESPACE {

namespace {

using OptionMap = std::unordered_map<std::string, std::string>;
using OptionList = compassdb::NamedValues;

constexpr const char* kIdOption = "id";

// Makes ids differ between processes that give objects the same name.
const std::string& ProcessTag() {
  static const std::string tag = std::to_string(std::random_device()());
  return tag;
}

Status ParseNamedOption(Configurable* object, const ConfigOptions& config_options,
                        const std::string& name, const std::string& value) {
  auto* const own = compassdb::ForeignCast<compassdb::NamedOptions*>(object);
  if (own == nullptr) return Status::NotFound("no option of this name", name);
  return own->ParseNamedOption(config_options, name, value);
}

OptionList ListNamedOptions(const Configurable* object, const ConfigOptions& config_options) {
  OptionList options;
  const auto* const own = compassdb::ForeignCast<const compassdb::NamedOptions*>(object);
  if (own != nullptr) own->ListNamedOptions(config_options, &options);
  return options;
}

}  // namespace

Status Configurable::ConfigureFromMap(const ConfigOptions& config_options,
                                      const OptionMap& opt_map) {
  return ConfigureFromMap(config_options, opt_map, nullptr);
}

Status Configurable::ConfigureFromMap(const ConfigOptions& config_options,
                                      const OptionMap& opt_map, OptionMap* unused) {
  Status s = ConfigureOptions(config_options, opt_map, unused);
  if (s.ok() && config_options.invoke_prepare_options) s = PrepareOptions(config_options);
  return s;
}

Status Configurable::ConfigureOption(const ConfigOptions& config_options, const std::string& name,
                                     const std::string& value) {
  return ConfigureFromMap(config_options, OptionMap{{name, value}});
}

Status Configurable::ConfigureFromString(const ConfigOptions& config_options,
                                         const std::string& opts) {
  if (opts.find_first_of(";=") != std::string::npos) {
    OptionMap options;
    const Status s = compassdb::ParseOptionString(opts, &options);
    return s.ok() ? ConfigureFromMap(config_options, options) : s;
  }
  Status s = ParseStringOptions(config_options, opts);
  if (s.ok() && config_options.invoke_prepare_options) s = PrepareOptions(config_options);
  return s;
}

Status Configurable::ParseStringOptions(const ConfigOptions& /*config_options*/,
                                        const std::string& /*opts_str*/) {
  return Status::OK();
}

// In the order of names, so that the result does not depend on the map's order. A bad value is
// reported before an unknown name.
Status Configurable::ConfigureOptions(const ConfigOptions& config_options,
                                      const OptionMap& opts_map, OptionMap* unused) {
  OptionList sorted(opts_map.begin(), opts_map.end());
  std::sort(sorted.begin(), sorted.end());
  Status unknown;
  for (const auto& [name, value] : sorted) {
    Status s = ParseNamedOption(this, config_options, GetOptionName(name), value);
    if (s.IsNotFound()) {
      if (unused != nullptr) {
        unused->emplace(name, value);
      } else if (!config_options.ignore_unknown_options && unknown.ok()) {
        unknown = s;
      }
    } else if (!s.ok() && !compassdb::IsPassedOver(config_options, s)) {
      return s;
    }
  }
  return unknown;
}

Status Configurable::ParseOption(const ConfigOptions& /*config_options*/,
                                 const OptionTypeInfo& /*opt_info*/, const std::string& opt_name,
                                 const std::string& /*opt_value*/, void* /*opt_ptr*/) {
  return Status::NotSupported("no type maps of options", opt_name);
}

bool Configurable::OptionsAreEqual(const ConfigOptions& /*config_options*/,
                                   const OptionTypeInfo& /*opt_info*/, const std::string& name,
                                   const void* const /*this_ptr*/, const void* const /*that_ptr*/,
                                   std::string* bad_name) const {
  *bad_name = name;
  return false;
}

Status Configurable::GetOptionString(const ConfigOptions& config_options,
                                     std::string* result) const {
  *result = SerializeOptions(config_options, "");
  return Status::OK();
}

std::string Configurable::ToString(const ConfigOptions& config_options,
                                   const std::string& prefix) const {
  const std::string result = SerializeOptions(config_options, prefix);
  const bool bare = result.empty() || result.find('=') == std::string::npos;
  return bare ? result : "{" + result + "}";
}

std::string Configurable::SerializeOptions(const ConfigOptions& config_options,
                                           const std::string& header) const {
  const OptionList options = ListNamedOptions(this, config_options);
  std::string result;
  for (const auto& [name, value] : options) {
    result += header + name + "=";
    result += compassdb::QuoteOptionValue(value, config_options.delimiter);
    result += config_options.delimiter;
  }
  return result;
}

Status Configurable::GetOptionNames(const ConfigOptions& config_options,
                                    std::unordered_set<std::string>* result) const {
  const OptionList options = ListNamedOptions(this, config_options);
  for (const auto& option : options) result->insert(option.first);
  return Status::OK();
}

Status Configurable::GetOption(const ConfigOptions& config_options, const std::string& name,
                               std::string* value) const {
  const OptionList options = ListNamedOptions(this, config_options);
  const std::string wanted = GetOptionName(name);
  for (const auto& option : options) {
    if (option.first != wanted) continue;
    *value = option.second;
    return Status::OK();
  }
  return Status::NotFound("no option of this name", name);
}

bool Configurable::AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                                 std::string* name) const {
  if (this == other || config_options.IsCheckDisabled()) return true;
  name->clear();
  if (other == nullptr) return false;
  const OptionList mine = ListNamedOptions(this, config_options);
  const OptionList theirs = ListNamedOptions(other, config_options);
  for (size_t i = 0; i < std::max(mine.size(), theirs.size()); ++i) {
    if (i < mine.size() && i < theirs.size() && mine[i] == theirs[i]) continue;
    *name = i < mine.size() ? mine[i].first : theirs[i].first;
    return false;
  }
  return true;
}

Status Configurable::PrepareOptions(const ConfigOptions& /*config_options*/) {
  return Status::OK();
}

Status Configurable::ValidateOptions(const DBOptions& /*db_opts*/,
                                     const ColumnFamilyOptions& /*cf_opts*/) const {
  return Status::OK();
}

Status Configurable::GetOptionsMap(const std::string& opt_value, const std::string& default_id,
                                   std::string* id, OptionMap* options) {
  compassdb::ParseObjectString(opt_value, default_id, id, options);
  return Status::OK();
}

const void* Configurable::GetOptionsPtr(const std::string& /*name*/) const { return nullptr; }

std::string Configurable::GetOptionName(const std::string& long_name) const { return long_name; }

bool Customizable::AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                                 std::string* mismatch) const {
  if (this == other || config_options.IsCheckDisabled()) return true;
  // The caller knows the class of an object without type information.
  const auto* custom = other == nullptr || compassdb::HasTypeInformation(other)
                           ? dynamic_cast<const Customizable*>(other)
                           : static_cast<const Customizable*>(other);
  if (custom == nullptr || GetId() != custom->GetId()) {
    *mismatch = kIdOption;
    return false;
  }
  if (config_options.sanity_level <= ConfigOptions::kSanityLevelLooselyCompatible) return true;
  return Configurable::AreEquivalent(config_options, other, mismatch);
}

Status Customizable::GetOption(const ConfigOptions& config_options, const std::string& name,
                               std::string* value) const {
  if (name == kIdOption) {
    *value = GetId();
    return Status::OK();
  }
  return Configurable::GetOption(config_options, name, value);
}

Status Customizable::GetOptionsMap(const ConfigOptions& config_options, const Customizable* custom,
                                   const std::string& opt_value, std::string* id,
                                   OptionMap* options) {
  if (custom == nullptr) return Configurable::GetOptionsMap(opt_value, "", id, options);
  Status s = Configurable::GetOptionsMap(opt_value, custom->GetId(), id, options);
  if (!s.ok() || !custom->IsInstanceOf(*id)) return s;
  // The same class: options that are not given keep their values.
  for (const auto& option : ListNamedOptions(custom, config_options)) options->insert(option);
  return s;
}

Status Customizable::ConfigureNewObject(const ConfigOptions& config_options, Customizable* object,
                                        const OptionMap& options) {
  if (object != nullptr) return object->ConfigureFromMap(config_options, options);
  if (options.empty()) return Status::OK();
  return Status::NotSupported("option for an object that is null", options.begin()->first);
}

std::string Customizable::GenerateIndividualId() const {
  char address[2 + 2 * sizeof(void*) + 1];
  snprintf(address, sizeof(address), "%p", static_cast<const void*>(this));
  return std::string(Name()) + "@" + address + "#" + ProcessTag();
}

// "name.option" and "option" are the same.
std::string Customizable::GetOptionName(const std::string& long_name) const {
  const std::string head = std::string(Name()) + ".";
  return long_name.compare(0, head.size(), head) == 0 ? long_name.substr(head.size()) : long_name;
}

std::string Customizable::SerializeOptions(const ConfigOptions& config_options,
                                           const std::string& prefix) const {
  const std::string own = config_options.IsShallow()
                              ? std::string()
                              : Configurable::SerializeOptions(config_options, prefix);
  if (config_options.IsShallow() || own.empty()) return own.empty() ? GetId() : own;
  return prefix + kIdOption + "=" + GetId() + config_options.delimiter + own;
}

}  // namespace ROCKSDB_NAMESPACE
