// SPDX-License-Identifier: Apache-2.0
#include "manifest/places.h"

#include <filesystem>
#include <random>

#include "format/file_names.h"
#include "format/foreign_file.h"
#include "util/crc32c.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

constexpr const char* kPlacesTitle = "CompassDB places 1";
constexpr const char* kOwnerTitle = "CompassDB owner 1";
constexpr uint64_t kMostBytes = 1 << 20;

using Lines = std::vector<std::pair<std::string, std::string>>;  // name and value

// Each value is one line, so line breaks and backslashes are escaped.
std::string EscapeValue(const std::string& value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\') text += "\\\\";
    else if (c == '\n') text += "\\n";
    else if (c == '\t') text += "\\t";
    else text += c;
  }
  return text;
}

std::string UnescapeValue(const std::string& text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      value += text[i];
      continue;
    }
    const char c = text[++i];
    value += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  return value;
}

std::string Hex(uint64_t number, int digits) {
  char buffer[24];
  snprintf(buffer, sizeof(buffer), "%0*llx", digits, static_cast<unsigned long long>(number));
  return buffer;
}

Status WriteLines(FileSystem* fs, const std::string& path, const char* title, const Lines& lines) {
  std::string text = std::string(title) + "\n";
  for (const auto& [name, value] : lines) text += name + " " + value + "\n";
  text += "checksum " + Hex(Crc32c(text.data(), text.size()), 8) + "\n";
  return WriteFileAtomically(fs, path, text);
}

Status ReadLines(FileSystem* fs, const std::string& path, const char* title, Lines* lines) {
  std::string text;
  if (Status s = ReadFileToString(fs, path, &text, kMostBytes); !s.ok()) return s;
  const size_t last = text.rfind("checksum ");
  if (text.rfind(std::string(title) + "\n", 0) != 0 || last == std::string::npos ||
      text.substr(last) != "checksum " + Hex(Crc32c(text.data(), last), 8) + "\n") {
    return Status::Corruption(path, std::string("is no file of CompassDB, ") + kDamagedOrEncrypted);
  }
  const std::vector<std::string> parts = Split(text.substr(0, last), '\n');
  for (size_t i = 1; i + 1 < parts.size(); ++i) {
    const size_t blank = std::min(parts[i].find(' '), parts[i].size());
    lines->emplace_back(parts[i].substr(0, blank), parts[i].substr(std::min(blank + 1, parts[i].size())));
  }
  return Status::OK();
}

uint64_t NumberOf(const std::string& text) {
  Slice rest(text);
  uint64_t number = 0;
  return ConsumeDecimal(&rest, &number) ? number : 0;
}

// As it is stored: relative if it is copied with the database.
std::string StoredDir(FileSystem* fs, const std::string& db_dir, const std::string& dir) {
  std::string absolute, real, absolute_db, real_db;
  if (!fs->GetAbsolutePath(dir, &absolute).ok() || !fs->GetAbsolutePath(db_dir, &absolute_db).ok() ||
      !fs->GetRealPath(dir, &real).ok() || !fs->GetRealPath(db_dir, &real_db).ok()) {
    return dir;
  }
  if (real == real_db) return ".";
  if (IsWithin(real, real_db)) return real.substr(real_db == "/" ? 1 : real_db.size() + 1);
  return std::filesystem::path(absolute).lexically_normal().string();
}

std::string GivenDir(const std::string& db_dir, const std::string& stored) {
  if (stored == ".") return db_dir;
  return !stored.empty() && stored[0] == '/' ? stored : JoinPath(db_dir, stored);
}

}  // namespace

std::string NewPlaceToken() {
  std::random_device random;
  return Hex(uint64_t{random()} << 32 | random(), 16) + Hex(uint64_t{random()} << 32 | random(), 16);
}

bool IsWithin(const std::string& path, const std::string& dir) {
  if (dir == "/") return true;
  return path.compare(0, dir.size(), dir) == 0 && (path.size() == dir.size() || path[dir.size()] == '/');
}

Status ReadPlaces(FileSystem* fs, const std::string& db_dir, Places* places) {
  *places = Places();
  Lines lines;
  if (Status s = ReadLines(fs, PlacesFileName(db_dir), kPlacesTitle, &lines); !s.ok()) return s;
  for (const auto& [name, value] : lines) {
    if (name == "token") places->token = value;
    if (name == "previous_token") places->previous_token = value;
    if (name == "first_number") places->first_number = NumberOf(value);
    if (name == "wal_dir") places->wal_dir = GivenDir(db_dir, UnescapeValue(value));
    if (name != "tables") continue;
    const std::vector<std::string> fields = Split(value, '\t');
    if (fields.size() != 3) return Status::Corruption(PlacesFileName(db_dir), "tables " + value);
    places->tables.push_back({UnescapeValue(fields[1]), GivenDir(db_dir, UnescapeValue(fields[2])), NumberOf(fields[0])});
  }
  return Status::OK();
}

Status WritePlaces(FileSystem* fs, const std::string& db_dir, const Places& places) {
  Lines lines{{"token", places.token}};
  if (!places.previous_token.empty()) lines.emplace_back("previous_token", places.previous_token);
  if (places.first_number > 0) lines.emplace_back("first_number", std::to_string(places.first_number));
  if (!places.wal_dir.empty()) lines.emplace_back("wal_dir", EscapeValue(StoredDir(fs, db_dir, places.wal_dir)));
  for (const TablePlace& place : places.tables) {
    lines.emplace_back("tables", std::to_string(place.target_bytes) + "\t" + EscapeValue(place.family) + "\t" +
                                     EscapeValue(StoredDir(fs, db_dir, place.dir)));
  }
  return WriteLines(fs, PlacesFileName(db_dir), kPlacesTitle, lines);
}

Status ReadOwner(FileSystem* fs, const std::string& dir, Owner* owner) {
  *owner = Owner();
  Lines lines;
  if (Status s = ReadLines(fs, OwnerFileName(dir), kOwnerTitle, &lines); !s.ok()) return s;
  for (const auto& [name, value] : lines) {
    if (name == "database") owner->db_id = value;
    if (name == "directory") owner->directory = UnescapeValue(value);
    if (name == "token") owner->token = value;
  }
  return Status::OK();
}

Status WriteOwner(FileSystem* fs, const std::string& dir, const Owner& owner) {
  return WriteLines(fs, OwnerFileName(dir), kOwnerTitle,
                    {{"database", owner.db_id}, {"directory", EscapeValue(owner.directory)}, {"token", owner.token}});
}

}  // namespace compassdb
