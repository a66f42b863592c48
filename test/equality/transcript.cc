// SPDX-License-Identifier: Apache-2.0
#include "equality/transcript.h"

#include <cstdio>

#include "support/family.h"
#include "support/text.h"

namespace compassdb_test {

// Flushed, so that the transcript of a crash ends where it happened.
void Transcript::Line(const std::string& text) {
  printf("%s\n", text.c_str());
  fflush(stdout);
}

void Transcript::Code(const std::string& what, const rocksdb::Status& status) {
  Line(what + ": " + ShowCode(status));
}

void Transcript::Full(const std::string& what, const rocksdb::Status& status) {
  std::string message = status.ToString();
  for (size_t at = message.find(path_); at != std::string::npos; at = message.find(path_)) {
    message.replace(at, path_.size(), "$DIR");
  }
  Line(what + ": " + ShowCode(status) + " [" + message + "]");
}

void Transcript::Says(const std::string& what, const rocksdb::Status& status,
                      const std::string& words) {
  bool says = status.ToString().find(words) != std::string::npos;
  Line(what + ": " + ShowCode(status) + (says ? " says \"" : " does not say \"") + words + "\"");
}

void Transcript::Value(const std::string& what, const rocksdb::Status& status,
                       const std::string& value) {
  Line(what + ": " + ShowCode(status) + (status.ok() ? " " + Show(value) : ""));
}

void Transcript::Scan(const std::string& what, rocksdb::DB* db,
                      rocksdb::ColumnFamilyHandle* family, const rocksdb::ReadOptions& options) {
  if (family == nullptr) family = db->DefaultColumnFamily();
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(options, family));
  std::string line = what + ":";
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    line += " " + Show(it->key().ToString()) + "=" + Show(it->value().ToString());
  }
  line += " " + ShowCode(it->status()) + " back:";
  for (it->SeekToLast(); it->Valid(); it->Prev()) line += " " + Show(it->key().ToString());
  Line(line + " " + ShowCode(it->status()));
}

std::unique_ptr<rocksdb::DB> OpenOrNote(Transcript* t, const std::string& name,
                                        const rocksdb::Options& options) {
  rocksdb::DB* db = nullptr;
  rocksdb::Status s = rocksdb::DB::Open(options, t->Path(name), &db);
  if (!s.ok()) t->Full("open " + name, s);
  return std::unique_ptr<rocksdb::DB>(db);
}

rocksdb::Options FreshOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  return options;
}

rocksdb::Options MergingOptions() {
  rocksdb::Options options = FreshOptions();
  options.merge_operator = MergeOperatorOf(MergeKind::kAppend);
  return options;
}

}  // namespace compassdb_test
