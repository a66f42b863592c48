// SPDX-License-Identifier: Apache-2.0
// An option, declared once. From its row come the parser, the printer, the
// OPTIONS file, SetOptions and the range, and also the refusal at open, the
// warning in LOG and the table in docs/options.md.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/named_options.h"
#include "api/registered.h"
#include "options/option_value.h"
#include "rocksdb/convenience.h"
#include "rocksdb/customizable.h"
#include "rocksdb/later_option.h"

namespace compassdb {

using rocksdb::ConfigOptions;

enum class Support {
  kSupported,  // does what RocksDB documents
  // Stored and printed. No effect here, or only the one in its note; a value other than the default
  // is warned about.
  kHint,
  kRefused,    // a value other than the default is NotSupported
};

enum OptionFlags : unsigned {
  kFixed = 0,
  kMutable = 1,  // SetOptions / SetDBOptions change it
  kNoParse = 2,  // only in the struct
  kNoPrint = 4,  // not in strings and OPTIONS files
  kWhole = 8,    // an object that has no "name.member"
};

template <class S>
struct OptionInfo {
  const char* name;
  const char* type;
  unsigned flags;
  Support support;
  const char* note;  // what it does here, or why it has no effect or is refused

  // Null with kNoParse. `member` is the part after the dot of "name.member", else empty.
  std::function<Status(const ConfigOptions&, const std::string& member, const std::string& value,
                       S*)>
      parse;
  std::function<std::string(const ConfigOptions&, const S&)> format;
  // Whether the value differs from that of a default S; what kHint and kRefused ask.
  std::function<bool(const S&)> is_set;
  // The text in LOG, as RocksDB's: numbers of flags and enumerators. Null: as `format`.
  std::function<std::string(const S&)> format_for_log = nullptr;
  // The range of a number that ValidateOptions accepts. docs/options.md says it, too.
  bool has_range = false;
  uint64_t least = 0;
  uint64_t most = std::numeric_limits<uint64_t>::max();

  bool is_mutable() const { return (flags & kMutable) != 0; }
  bool is_object() const { return std::string_view(type) == "object"; }
  bool has_members() const {
    return (flags & kWhole) == 0 && (is_object() || std::string_view(type) == "struct");
  }
  // The same option whose refusal or warning depends on more than "not the default".
  OptionInfo When(std::function<bool(const S&)> predicate) && {
    is_set = std::move(predicate);
    return std::move(*this);
  }
  OptionInfo Between(uint64_t low, uint64_t high) && {
    has_range = true;
    least = low;
    most = high;
    return std::move(*this);
  }
  OptionInfo AtLeast(uint64_t low) && {
    return std::move(*this).Between(low, std::numeric_limits<uint64_t>::max());
  }
  // "1 to 64", "at least 1"
  std::string Range() const {
    if (most == std::numeric_limits<uint64_t>::max()) return "at least " + std::to_string(least);
    return std::to_string(least) + " to " + std::to_string(most);
  }
};

template <class S>
using OptionTable = std::vector<OptionInfo<S>>;

// Where `name` leads: the row, and the member of a nested struct ("compression_opts.level").
template <class S>
const OptionInfo<S>* FindOption(const OptionTable<S>& table, const std::string& name,
                                std::string* member) {
  const size_t dot = name.find('.');
  const std::string head = name.substr(0, dot);
  *member = dot == std::string::npos ? "" : name.substr(dot + 1);
  for (const OptionInfo<S>& option : table) {
    if (head == option.name) {
      return dot == std::string::npos || option.has_members() ? &option : nullptr;
    }
  }
  return nullptr;
}

// NotFound if the table has no such option.
template <class S>
Status ParseOption(const ConfigOptions& config, const OptionTable<S>& table,
                   const std::string& name, const std::string& value, S* options) {
  std::string member;
  const OptionInfo<S>* option = FindOption(table, name, &member);
  if (option == nullptr || option->parse == nullptr) {
    return Status::NotFound("Could not find option: ", name);
  }
  if (config.mutable_options_only && !option->is_mutable()) {
    return Status::InvalidArgument("Option not changeable: " + name);
  }
  // Text with options of an object has its own backslashes.
  const bool raw = !config.input_strings_escaped ||
                   (option->is_object() && value.find('=') != std::string::npos);
  const Status s = option->parse(config, member, raw ? value : UnescapeOptionValue(value), options);
  if (!s.IsNotFound() || !option->is_object()) return s;
  // Says what the object does not have. A class of the application may give no message.
  return Status::NotFound(s.getState() != nullptr ? s.getState() : "Could not find option", "in " + name);
}

inline Status BadOptionValue(const std::string& name, const std::string& value,
                             const char* expected) {
  return Status::InvalidArgument("Error parsing " + name,
                                 "'" + value + "' is not a value of type " + expected);
}

// InvalidArgument, naming an option whose value is out of its range. `where` precedes its name.
template <class S>
Status CheckRanges(const OptionTable<S>& table, const S& options, const std::string& where = "") {
  const ConfigOptions config;
  for (const OptionInfo<S>& option : table) {
    if (!option.has_range) continue;
    const std::string text = option.format(config, options);
    uint64_t value = 0;
    // "-1" would be parsed as a large number.
    if (text.starts_with('-') || !ParseUnsigned(text, &value) || value < option.least ||
        value > option.most) {
      return Status::InvalidArgument(where + option.name + " must be " + option.Range(), text);
    }
  }
  return Status::OK();
}

// Whether the options as a whole can be used.
template <class S>
Status CheckParsed(const S&) {
  return Status::OK();
}
Status CheckParsed(const rocksdb::ColumnFamilyOptions& options);

// Sets what `map` names, in the order of names. Names that the table does not have go to `unused`;
// without it they are an error unless the configuration says to skip them. On errors *options keeps
// its value.
template <class S>
Status ParseOptions(const ConfigOptions& config, const OptionTable<S>& table, const OptionMap& map,
                    S* options, OptionMap* unused = nullptr) {
  S result = *options;
  const std::map<std::string, std::string> sorted(map.begin(), map.end());
  for (const auto& [name, value] : sorted) {
    const Status s = ParseOption(config, table, name, value, &result);
    if (s.ok()) continue;
    if (s.IsNotFound() && unused != nullptr) {
      (*unused)[name] = value;
    } else if (!IsPassedOver(config, s)) {
      return s.IsNotFound() ? Status::InvalidArgument(s.getState()) : s;
    }
  }
  const Status s = CheckParsed(result);
  if (s.ok()) *options = std::move(result);
  return s;
}

// What is printed, in the order of the table; options without a text form are left out.
template <class S>
NamedValues ListOptions(const ConfigOptions& config, const OptionTable<S>& table,
                        const S& options) {
  NamedValues values;
  for (const OptionInfo<S>& option : table) {
    if ((option.flags & kNoPrint) != 0) continue;
    if (config.mutable_options_only && !option.is_mutable()) continue;
    std::string value = option.format(config, options);
    if (!value.empty()) values.emplace_back(option.name, std::move(value));
  }
  return values;
}

// The same with what LOG shows.
template <class S>
NamedValues ListForLog(const OptionTable<S>& table, const S& options) {
  NamedValues values;
  for (const OptionInfo<S>& option : table) {
    if ((option.flags & kNoPrint) != 0) continue;
    values.emplace_back(option.name, option.format_for_log != nullptr
                                         ? option.format_for_log(options)
                                         : option.format(ConfigOptions(), options));
  }
  return values;
}

inline std::string JoinOptions(const NamedValues& values, const std::string& delimiter) {
  std::string out;
  for (const auto& [name, value] : values) {
    // A value with a delimiter inside is put in braces; nested structs have theirs already.
    const bool brace = delimiter.find(';') != std::string::npos &&
                       value.find(';') != std::string::npos && value[0] != '{';
    out += name + "=" + (brace ? "{" + value + "}" : value) + delimiter;
  }
  return out;
}

// The text of an object: its id, or "{id=...;option=value;...}" if it has options.
std::string FormatObject(const ConfigOptions& config, const rocksdb::Customizable* object);
// Caches have no text form in RocksDB 7.8; the name, for messages.
std::string FormatObject(const ConfigOptions& config, const rocksdb::Cache* cache);

// --- rows ---------------------------------------------------------------

template <class S>
std::function<bool(const S&)> DiffersFromDefault(
    std::function<std::string(const ConfigOptions&, const S&)> format) {
  return [format](const S& options) {
    const ConfigOptions config;
    return format(config, options) != format(config, S());
  };
}

// bool, number or enum.
template <class S, class C, class T>
OptionInfo<S> Scalar(const char* name, T C::*member, unsigned flags, Support support,
                     const char* note) {
  OptionInfo<S> info{name, TypeName<T>(), flags, support, note, nullptr, nullptr, nullptr};
  info.parse = [name, member](const ConfigOptions&, const std::string&, const std::string& value,
                              S* options) {
    if (!ParseValue(value, &(options->*member))) {
      return BadOptionValue(name, value, TypeName<T>());
    }
    return Status::OK();
  };
  info.format = [member](const ConfigOptions&, const S& options) {
    return FormatValue(options.*member);
  };
  info.is_set = [member](const S& options) { return options.*member != S().*member; };
  if constexpr (std::is_same_v<T, bool> || std::is_enum_v<T>) {
    info.format_for_log = [member](const S& options) {
      return std::to_string(static_cast<int>(options.*member));
    };
  }
  return info;
}

// The same for one that RocksDB 7.8 does not know: it is only printed if it is set.
template <class S, class C, class T, T kDefault>
OptionInfo<S> Later(const char* name, LaterOption<T, kDefault> C::*member, unsigned flags,
                    Support support, const char* note) {
  OptionInfo<S> info{name, TypeName<T>(), flags, support, note, nullptr, nullptr, nullptr};
  info.parse = [name, member](const ConfigOptions&, const std::string&, const std::string& value,
                              S* options) {
    T parsed{};
    if (!ParseValue(value, &parsed)) return BadOptionValue(name, value, TypeName<T>());
    options->*member = parsed;
    return Status::OK();
  };
  info.is_set = [member](const S& options) { return options.*member != kDefault; };
  info.format = [member](const ConfigOptions&, const S& options) {
    const T value = options.*member;
    return value == kDefault ? std::string() : FormatValue(value);
  };
  info.format_for_log = [member](const S& options) {
    return std::to_string(static_cast<uint32_t>(static_cast<T>(options.*member)));
  };
  return info;
}

template <class S, class C>
OptionInfo<S> Text(const char* name, std::string C::*member, unsigned flags, Support support,
                   const char* note) {
  OptionInfo<S> info{name, "string", flags, support, note, nullptr, nullptr, nullptr};
  info.parse = [member](const ConfigOptions&, const std::string&, const std::string& value,
                        S* options) {
    options->*member = value;
    return Status::OK();
  };
  info.format = [member](const ConfigOptions&, const S& options) {
    return EscapeOptionValue(options.*member);
  };
  info.is_set = [member](const S& options) { return options.*member != S().*member; };
  return info;
}

template <class S, class C, class T>
OptionInfo<S> List(const char* name, std::vector<T> C::*member, unsigned flags, Support support,
                   const char* note) {
  OptionInfo<S> info{name, "list", flags, support, note, nullptr, nullptr, nullptr};
  info.parse = [name, member](const ConfigOptions&, const std::string&, const std::string& value,
                              S* options) {
    if (!ParseList(value, &(options->*member))) return BadOptionValue(name, value, "list");
    return Status::OK();
  };
  info.format = [member](const ConfigOptions&, const S& options) {
    return FormatList(options.*member);
  };
  info.is_set = [member](const S& options) { return options.*member != S().*member; };
  return info;
}

// A struct with a table of its own. `legacy` reads the old form without names; may be null.
template <class S, class C, class T>
OptionInfo<S> Nested(const char* name, T C::*member, const OptionTable<T>& (*table)(),
                     std::function<Status(const std::string&, std::type_identity_t<T>*)> legacy,
                     unsigned flags,
                     Support support, const char* note) {
  OptionInfo<S> info{name, "struct", flags, support, note, nullptr, nullptr, nullptr};
  info.parse = [member, table, legacy](const ConfigOptions& config, const std::string& inner,
                                       const std::string& value, S* options) {
    ConfigOptions nested = config;
    nested.mutable_options_only = false;  // a changeable struct changes as a whole
    T* target = &(options->*member);
    if (!inner.empty()) return ParseOptions(nested, table(), {{inner, value}}, target);
    if (legacy != nullptr && value.find('=') == std::string::npos) return legacy(value, target);
    OptionMap map;
    const Status s = ParseOptionString(value, &map);
    return s.ok() ? ParseOptions(nested, table(), map, target) : s;
  };
  info.format = [member, table](const ConfigOptions&, const S& options) {
    return "{" + JoinOptions(ListOptions(ConfigOptions(), table(), options.*member), ";") + "}";
  };
  info.is_set = DiffersFromDefault<S>(info.format);
  return info;
}

// The text of `value` under the name "option.inner". As in RocksDB that is the object's own text,
// unless `inner` begins with the id of the existing object: then it is one of its options.
inline std::string ObjectText(const rocksdb::Customizable* present, const std::string& inner,
                              const std::string& value) {
  if (present == nullptr || !inner.starts_with(present->GetId() + ".")) return value;
  return "id=" + present->GetId() + ";" + inner.substr(present->GetId().size() + 1) + "={" + value +
         "}";
}

// Whether "option.inner=", without a value, leaves the object.
inline bool LeavesObject(const std::string& inner, const std::string& value) {
  return value.empty() && !inner.empty() && inner != "id";
}

// A shared object made by T::CreateFromString.
template <class S, class C, class T>
OptionInfo<S> Object(const char* name, std::shared_ptr<T> C::*member, unsigned flags,
                     Support support, const char* note) {
  OptionInfo<S> info{name, "object", flags, support, note, nullptr, nullptr, nullptr};
  info.parse = [member](const ConfigOptions& config, const std::string& inner,
                        const std::string& value, S* options) {
    std::shared_ptr<T>& object = options->*member;
    if constexpr (std::is_same_v<T, rocksdb::Cache>) {
      return T::CreateFromString(config, value, &object);
    } else {
      if (LeavesObject(inner, value)) return Status::OK();
      return T::CreateFromString(config, ObjectText(object.get(), inner, value), &object);
    }
  };
  info.format = [member](const ConfigOptions& config, const S& options) {
    return FormatObject(config, (options.*member).get());
  };
  info.is_set = [member](const S& options) { return options.*member != S().*member; };
  return info;
}

// The same for an object that the application keeps.
template <class S, class C, class T>
OptionInfo<S> Pointer(const char* name, T* C::*member, unsigned flags, Support support,
                      const char* note) {
  OptionInfo<S> info{name, "object", flags, support, note, nullptr, nullptr, nullptr};
  info.parse = [member](const ConfigOptions& config, const std::string& inner,
                        const std::string& value, S* options) {
    if (LeavesObject(inner, value)) return Status::OK();
    return T::CreateFromString(config, value, &(options->*member));
  };
  info.format = [member](const ConfigOptions& config, const S& options) {
    return FormatObject(config, options.*member);
  };
  info.is_set = [member](const S& options) { return options.*member != S().*member; };
  return info;
}

// Cannot be made from text.
template <class S>
OptionInfo<S> StructOnly(const char* name, const char* type, std::function<bool(const S&)> is_set,
                         Support support, const char* note) {
  return OptionInfo<S>{name, type,   kNoParse | kNoPrint, support, note, nullptr,
                       [](const ConfigOptions&, const S&) { return std::string(); },
                       std::move(is_set)};
}

// An option that RocksDB 7.8.3 itself parses and drops.
template <class S>
OptionInfo<S> Retired(const char* name, unsigned flags = kFixed) {
  OptionInfo<S> info{name,    "retired", kNoPrint | flags, Support::kHint, "retired in RocksDB 7.8.3",
                     nullptr, nullptr,   nullptr};
  info.parse = [](const ConfigOptions&, const std::string&, const std::string&, S*) {
    return Status::OK();
  };
  info.format = [](const ConfigOptions&, const S&) { return std::string(); };
  info.is_set = [](const S&) { return false; };
  return info;
}

}  // namespace compassdb
