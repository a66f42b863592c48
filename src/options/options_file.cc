// SPDX-License-Identifier: Apache-2.0
#include "options/options_file.h"

#include <algorithm>
#include <array>

#include "format/file_names.h"
#include "options/option_tables.h"
#include "options/table_factories.h"
#include "util/c_locale.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

constexpr const char* kHeader =
    "# Options of a CompassDB database, in the format of RocksDB's options files.\n";
constexpr const char* kLevel = "7.8.3";
constexpr std::string_view kTableTitle = "TableOptions/";  // before the name of the factory
constexpr size_t kKeptFiles = 2;

struct Section {
  int line = 0;
  std::string title;   // "CFOptions", "TableOptions/BlockBasedTable"
  std::string family;  // empty for sections of the database
  OptionMap options;
};

// Readers drop blanks at the ends of a value, but not behind a backslash.
std::string EscapeOuterBlanks(std::string value) {
  if (!value.empty() && IsAsciiSpace(value.back())) value.insert(value.size() - 1, 1, '\\');
  if (!value.empty() && IsAsciiSpace(value.front())) value.insert(0, 1, '\\');
  return value;
}

bool IsObject(const char* type) { return type == std::string("object"); }

template <class S>
NamedValues FileValues(const OptionTable<S>& table, const S& options) {
  NamedValues values = ListOptions(ConfigOptions(), table, options);
  for (auto& [name, value] : values) {
    std::string member;
    const OptionInfo<S>* option = FindOption(table, name, &member);
    value = IsObject(option->type) ? EscapeObjectText(value) : EscapeOuterBlanks(value);
  }
  return values;
}

// Removes escapes for the objects' parsers. The parsers handle strings.
template <class S>
OptionMap ParserValues(const OptionTable<S>& table, OptionMap values) {
  for (auto& [name, value] : values) {
    std::string member;
    const OptionInfo<S>* option = FindOption(table, name, &member);
    if (option == nullptr || !IsObject(option->type)) continue;
    for (size_t at = 0; (at = value.find("\\#", at)) != std::string::npos; ++at) value.erase(at, 1);
  }
  return values;
}

void AppendOptions(const NamedValues& values, std::string* out) {
  for (const auto& [name, value] : values) *out += "  " + name + "=" + value + "\n";
  *out += "\n";
}

Status ErrorAt(const std::string& file, int line, const std::string& what) {
  return Status::InvalidArgument(file + ":" + std::to_string(line), what);
}

// Without comment and outer blanks; "\#" is no comment, and a blank behind a backslash stays.
std::string WithoutComment(const std::string& line) {
  const std::string trimmed = Trim(line);
  const size_t begin = line.find(trimmed);
  size_t end = begin;
  for (size_t i = begin; i < line.size() && line[i] != '#'; ++i) {
    const bool escapes = line[i] == '\\' && i + 1 < line.size();
    if (escapes) ++i;
    if (escapes || !IsAsciiSpace(line[i])) end = i + 1;
  }
  return line.substr(begin, end - begin);
}

// [Title] or [Title "family"]
Status ParseTitle(const std::string& file, const std::string& text, Section* section) {
  const std::string inner = Trim(text.substr(1, text.size() - 2));
  const size_t quote = inner.find('"');
  const size_t last = inner.rfind('"');
  section->title = Trim(inner.substr(0, quote));
  if (quote == std::string::npos) return Status::OK();
  if (quote == last) return ErrorAt(file, section->line, "closing quote expected: " + text);
  section->family = UnescapeOptionValue(inner.substr(quote + 1, last - quote - 1));
  return Status::OK();
}

Status SplitSections(const std::string& file, const std::string& text,
                     std::vector<Section>* sections) {
  int number = 0;
  for (const std::string& raw : Split(text, '\n')) {
    ++number;
    const std::string line = WithoutComment(raw);
    if (line.empty()) continue;
    if (line.front() == '[' && line.back() == ']') {
      sections->emplace_back();
      sections->back().line = number;
      const Status s = ParseTitle(file, line, &sections->back());
      if (!s.ok()) return s;
      continue;
    }
    const size_t equals = line.find('=');
    if (equals == std::string::npos || equals == 0) return ErrorAt(file, number, "'=' expected");
    if (sections->empty()) continue;  // as RocksDB does
    // As in RocksDB, the first of several counts.
    size_t value = equals + 1;
    while (value < line.size() && IsAsciiSpace(line[value])) ++value;
    sections->back().options.emplace(Trim(line.substr(0, equals)), line.substr(value));
  }
  return Status::OK();
}

// "6.15.2" -> 6, 15, 2. Missing parts are 0. False if it is not at most `most` numbers.
bool ParseVersion(const std::string& text, size_t most, std::array<uint64_t, 3>* version) {
  *version = {};
  if (text.empty()) return true;
  const std::vector<std::string> parts = Split(text, '.');
  for (size_t i = 0; i < parts.size(); ++i) {
    Slice rest(parts[i]);
    if (i == most || !ConsumeDecimal(&rest, &(*version)[i]) || !rest.empty()) return false;
  }
  return true;
}

// Both lines may be missing, and so may the section.
Status ReadVersion(const std::string& file, const Section& section, std::array<uint64_t, 3>* rocksdb) {
  const auto check = [&](const char* name, size_t most, std::array<uint64_t, 3>* version) {
    const auto found = section.options.find(name);
    if (found == section.options.end() || ParseVersion(found->second, most, version)) {
      return Status::OK();
    }
    return ErrorAt(file, section.line, std::string(name) + ": " + found->second);
  };
  std::array<uint64_t, 3> format{1, 0, 0};
  Status s = check("rocksdb_version", 3, rocksdb);
  if (s.ok()) s = check("options_file_version", 2, &format);
  if (s.ok() && format[0] < 1) s = ErrorAt(file, section.line, "options_file_version must be at least 1");
  return s;
}

Status ReadTableSection(const ConfigOptions& config, const Section& section,
                        NamedFamilyOptions* family) {
  const std::string id = section.title.substr(kTableTitle.size());
  std::shared_ptr<rocksdb::TableFactory>& factory = family->options.table_factory;
  factory.reset();
  const Status s = rocksdb::TableFactory::CreateFromString(config, id, &factory);
  // As in RocksDB, a factory that cannot be made here is none, also where unknown options are an
  // error.
  if (!s.ok() || factory == nullptr) return Status::OK();
  return ConfigureTable(config, section.options, factory.get());
}

// Reads one section of the file. Errors name the line.
class SectionReader {
 public:
  SectionReader(const ConfigOptions& config, const std::string& file, rocksdb::DBOptions* db,
                std::vector<NamedFamilyOptions>* families)
      : config_(config), file_(file), db_(db), families_(families) {}

  void RefuseUnknown() { config_.ignore_unknown_options = false; }

  Status Read(const Section& section) {
    Status s;
    if (section.title == "Version") return s;  // ParseOptionsFile has read it
    if (section.title == "DBOptions") {
      if (has_db_) return ErrorAt(file_, section.line, "a second [DBOptions]");
      has_db_ = true;
      s = ParseOptions(config_, DbOptionTable(), ParserValues(DbOptionTable(), section.options),
                       db_);
    } else if (section.title == "CFOptions") {
      if (families_->empty() && section.family != "default") {
        return ErrorAt(file_, section.line, "the first column family must be \"default\"");
      }
      if (Find(section.family) != nullptr) {
        return ErrorAt(file_, section.line, "a second [CFOptions \"" + section.family + "\"]");
      }
      families_->push_back({section.family, {}});
      s = ParseOptions(config_, FamilyOptionTable(),
                       ParserValues(FamilyOptionTable(), section.options),
                       &families_->back().options);
    } else if (section.title.starts_with(kTableTitle) &&
               section.title.size() > kTableTitle.size()) {
      NamedFamilyOptions* family = Find(section.family);
      if (family == nullptr) {
        return ErrorAt(file_, section.line, "no [CFOptions \"" + section.family + "\"] before");
      }
      s = ReadTableSection(config_, section, family);
    } else {
      return ErrorAt(file_, section.line, "unknown section [" + section.title + "]");
    }
    return s.ok() ? s : ErrorAt(file_, section.line, "[" + section.title + "] " + s.ToString());
  }

  Status Finish() const {
    if (!has_db_) return Status::Corruption(file_, "no [DBOptions]: the file is not complete");
    if (families_->empty()) {
      return Status::Corruption(file_, "no [CFOptions \"default\"]: the file is not complete");
    }
    return Status::OK();
  }

 private:
  NamedFamilyOptions* Find(const std::string& name) {
    for (NamedFamilyOptions& family : *families_) {
      if (family.name == name) return &family;
    }
    return nullptr;
  }

  ConfigOptions config_;
  const std::string& file_;
  rocksdb::DBOptions* const db_;
  std::vector<NamedFamilyOptions>* const families_;
  bool has_db_ = false;
};

}  // namespace

std::string FormatOptionsFile(const rocksdb::DBOptions& db,
                              const std::vector<NamedFamilyOptions>& families) {
  const ConfigOptions config;
  std::string out = kHeader;
  out += "\n[Version]\n  rocksdb_version=" + std::string(kLevel) +
         "\n  options_file_version=1.1\n\n[DBOptions]\n";
  AppendOptions(FileValues(DbOptionTable(), db), &out);
  for (const NamedFamilyOptions& family : families) {
    const std::string quoted = " \"" + EscapeOptionValue(family.name) + "\"]\n";
    out += "[CFOptions" + quoted;
    AppendOptions(FileValues(FamilyOptionTable(), family.options), &out);
    const auto* factory = family.options.table_factory.get();
    if (factory == nullptr) continue;
    out += "[TableOptions/" + std::string(factory->Name()) + quoted;
    AppendOptions(ListTableOptions(config, *factory), &out);
  }
  return out;
}

Status ParseOptionsFile(const ConfigOptions& given, const std::string& name,
                        const std::string& text, rocksdb::DBOptions* db,
                        std::vector<NamedFamilyOptions>* families) {
  ConfigOptions config = given;
  config.mutable_options_only = false;
  config.input_strings_escaped = true;
  std::vector<Section> sections;
  Status s = SplitSections(name, text, &sections);
  *db = rocksdb::DBOptions();
  families->clear();
  // [Version] may be anywhere.
  std::array<uint64_t, 3> version{}, ours{};
  ParseVersion(kLevel, 3, &ours);
  bool has_version = false;
  for (const Section& section : sections) {
    if (!s.ok() || section.title != "Version") continue;
    s = has_version ? ErrorAt(name, section.line, "a second [Version]") : ReadVersion(name, section, &version);
    has_version = true;
  }
  // As in RocksDB, behind a [Version] that is not newer than ours, an unknown option is an error.
  const bool newer = std::pair(version[0], version[1]) > std::pair(ours[0], ours[1]);
  SectionReader reader(config, name, db, families);
  for (size_t i = 0; s.ok() && i < sections.size(); ++i) {
    if (sections[i].title == "Version" && !newer) reader.RefuseUnknown();
    s = reader.Read(sections[i]);
  }
  return s.ok() ? reader.Finish() : s;
}

Status StoredObjects(const std::string& name, const std::string& text, ObjectTexts* objects) {
  std::vector<Section> sections;
  Status s = SplitSections(name, text, &sections);
  for (const Section& section : sections) {
    if (section.title != "CFOptions") continue;
    for (const OptionInfo<rocksdb::ColumnFamilyOptions>& option : FamilyOptionTable()) {
      const auto found = section.options.find(option.name);
      if (!IsObject(option.type) || found == section.options.end()) continue;
      (*objects)[section.family].insert(*found);
    }
  }
  return s;
}

std::string EscapeObjectText(const std::string& text) {
  std::string out;
  bool escaped = false;  // options inside of the text have their own backslashes
  for (const char c : text) {
    if (c == '#' && !escaped) out += '\\';
    escaped = c == '\\' && !escaped;
    if (c == '\n' || c == '\r') {
      out += c == '\n' ? "\\n" : "\\r";
    } else {
      out += c;
    }
  }
  return EscapeOuterBlanks(std::move(out));
}

std::string OptionsOfCopy(const std::string& text) {
  std::string copy;
  for (const std::string& line : Split(text, '\n')) {
    const std::string name = Trim(line.substr(0, line.find('=')));
    const bool of_directory = name == "wal_dir" || name == "db_log_dir";
    copy += (of_directory ? "  " + name + "=" : line) + "\n";
  }
  copy.pop_back();
  return copy;
}

Status WriteOptionsFile(FileSystem* fs, const std::string& dir, uint64_t number,
                        const rocksdb::DBOptions& db,
                        const std::vector<NamedFamilyOptions>& families, bool keep_all, uint64_t first_number) {
  Status s = WriteFileAtomically(fs, OptionsFileName(dir, number), FormatOptionsFile(db, families));
  if (!s.ok() || keep_all) return s;
  std::vector<std::string> names;
  s = fs->GetChildren(dir, &names);
  if (!s.ok()) return s;
  std::vector<uint64_t> numbers;
  for (const std::string& file : names) {
    uint64_t found = 0;
    FileType type;
    if (ParseFileName(file, &found, &type) && type == FileType::kOptions && found >= first_number) {
      numbers.push_back(found);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  for (size_t i = 0; s.ok() && i + kKeptFiles < numbers.size(); ++i) {
    s = fs->DeleteFile(OptionsFileName(dir, numbers[i]));
  }
  return s;
}

}  // namespace compassdb
