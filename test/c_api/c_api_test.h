// SPDX-License-Identifier: Apache-2.0
// For all tests of the C interface. They include only rocksdb/c.h, and pass with RocksDB, too.
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/c.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace c_api {

// An errptr; a test that passes it expects success unless it takes the message.
class Error {
 public:
  ~Error() {
    EXPECT_EQ(message_, nullptr) << message_;
    rocksdb_free(message_);
  }
  operator char**() { return &message_; }  // NOLINT: stands for the pointer
  bool failed() const { return message_ != nullptr; }
  std::string Take() {
    const std::string text = message_ == nullptr ? "" : message_;
    rocksdb_free(message_);
    message_ = nullptr;
    return text;
  }

 private:
  char* message_ = nullptr;
};

// The text of malloc()ed bytes, which it frees; "(null)" for none.
inline std::string Take(char* bytes, size_t size) {
  const std::string text = bytes == nullptr ? "(null)" : std::string(bytes, size);
  rocksdb_free(bytes);
  return text;
}

inline std::string TakeText(char* text) { return Take(text, text == nullptr ? 0 : std::string(text).size()); }

// The text of a pinned value, which it destroys.
inline std::string Take(rocksdb_pinnableslice_t* slice) {
  size_t size = 0;
  const char* const bytes = rocksdb_pinnableslice_value(slice, &size);
  const std::string text = bytes == nullptr ? "(null)" : std::string(bytes, size);
  if (slice != nullptr) rocksdb_pinnableslice_destroy(slice);
  return text;
}

// A key, or value, as a pointer and a size.
#define C_BYTES(text) (text).data(), (text).size()

// Lists of keys or values.
struct Lists {
  explicit Lists(const std::vector<std::string>& texts) : owned(texts) {
    for (const std::string& text : owned) {
      data.push_back(text.data());
      sizes.push_back(text.size());
    }
  }
  Lists(const Lists&) = delete;
  Lists& operator=(const Lists&) = delete;

  const std::vector<std::string> owned;
  std::vector<const char*> data;
  std::vector<size_t> sizes;
};

// A database with default options in a directory of its own.
class Database : public ::testing::Test {
 protected:
  Database()
      : options_(rocksdb_options_create()),
        write_(rocksdb_writeoptions_create()),
        read_(rocksdb_readoptions_create()) {
    rocksdb_options_set_create_if_missing(options_, 1);
  }
  ~Database() override {
    Close();
    rocksdb_readoptions_destroy(read_);
    rocksdb_writeoptions_destroy(write_);
    rocksdb_options_destroy(options_);
  }

  std::string path(const std::string& name = "db") const { return dir_.path() + "/" + name; }

  void Open() {
    Error error;
    db_ = rocksdb_open(options_, path().c_str(), error);
    ASSERT_NE(db_, nullptr);
  }
  void Close() {
    if (db_ != nullptr) rocksdb_close(db_);
    db_ = nullptr;
  }

  void Put(const std::string& key, const std::string& value) {
    rocksdb_put(db_, write_, C_BYTES(key), C_BYTES(value), Error());
  }
  std::string Get(const std::string& key) { return GetFrom(db_, key); }
  std::string GetFrom(rocksdb_t* db, const std::string& key) {
    size_t size = 0;
    char* const value = rocksdb_get(db, read_, C_BYTES(key), &size, Error());
    return Take(value, size);
  }
  void Flush() {
    rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
    rocksdb_flush(db_, flush, Error());
    rocksdb_flushoptions_destroy(flush);
  }

  compassdb_test::TempDir dir_{"c_api"};
  rocksdb_options_t* const options_;
  rocksdb_writeoptions_t* const write_;
  rocksdb_readoptions_t* const read_;
  rocksdb_t* db_ = nullptr;
};

// "key=value" of all records from the iterator's place on, which it destroys.
inline std::string Rest(rocksdb_iterator_t* iter) {
  std::string text;
  for (; rocksdb_iter_valid(iter) != 0; rocksdb_iter_next(iter)) {
    size_t key_size = 0;
    size_t value_size = 0;
    const char* const key = rocksdb_iter_key(iter, &key_size);
    const char* const value = rocksdb_iter_value(iter, &value_size);
    text += std::string(key, key_size) + "=" + std::string(value, value_size) + " ";
  }
  rocksdb_iter_get_error(iter, Error());
  rocksdb_iter_destroy(iter);
  return text;
}

}  // namespace c_api
