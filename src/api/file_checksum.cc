// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/file_checksum.h"

#include <unordered_map>

#include "api/registered.h"
#include "rocksdb/config_options.h"
#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {

namespace {

class Crc32cGenerator : public FileChecksumGenerator {
 public:
  void Update(const char* data, size_t n) override {
    crc_ = compassdb::Crc32cExtend(crc_, data, n);
  }

  // Most significant byte first.
  void Finalize() override {
    for (int shift = 24; shift >= 0; shift -= 8) {
      result_.push_back(static_cast<char>(crc_ >> shift & 0xff));
    }
  }

  std::string GetChecksum() const override {
    assert(!result_.empty());
    return result_;
  }
  const char* Name() const override { return kStandardDbFileChecksumFuncName; }

 private:
  uint32_t crc_ = 0;
  std::string result_;
};

class Crc32cFactory : public FileChecksumGenFactory {
 public:
  static const char* kClassName() { return "FileChecksumGenCrc32cFactory"; }
  const char* Name() const override { return kClassName(); }

  std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext& context) override {
    const std::string& wanted = context.requested_checksum_func_name;
    if (!wanted.empty() && wanted != kStandardDbFileChecksumFuncName) return nullptr;
    return std::make_unique<Crc32cGenerator>();
  }
};

class FileChecksumListImpl : public FileChecksumList {
 public:
  void reset() override { files_.clear(); }
  size_t size() const override { return files_.size(); }

  Status GetAllFileChecksums(std::vector<uint64_t>* file_numbers,
                             std::vector<std::string>* checksums,
                             std::vector<std::string>* checksum_func_names) override {
    if (file_numbers == nullptr || checksums == nullptr || checksum_func_names == nullptr) {
      return Status::InvalidArgument("GetAllFileChecksums: an output is null");
    }
    for (const auto& [number, entry] : files_) {
      file_numbers->push_back(number);
      checksums->push_back(entry.checksum);
      checksum_func_names->push_back(entry.function);
    }
    return Status::OK();
  }

  Status SearchOneFileChecksum(uint64_t file_number, std::string* checksum,
                               std::string* checksum_func_name) override {
    if (checksum == nullptr || checksum_func_name == nullptr) {
      return Status::InvalidArgument("SearchOneFileChecksum: an output is null");
    }
    auto found = files_.find(file_number);
    if (found == files_.end()) return NoSuchFile(file_number);
    *checksum = found->second.checksum;
    *checksum_func_name = found->second.function;
    return Status::OK();
  }

  Status InsertOneFileChecksum(uint64_t file_number, const std::string& checksum,
                               const std::string& checksum_func_name) override {
    files_[file_number] = {checksum, checksum_func_name};
    return Status::OK();
  }

  Status RemoveOneFileChecksum(uint64_t file_number) override {
    return files_.erase(file_number) != 0 ? Status::OK() : NoSuchFile(file_number);
  }

 private:
  struct Entry {
    std::string checksum;
    std::string function;
  };

  static Status NoSuchFile(uint64_t file_number) {
    return Status::NotFound("no checksum of file number", std::to_string(file_number));
  }

  std::unordered_map<uint64_t, Entry> files_;
};

}  // namespace

FileChecksumList* NewFileChecksumList() { return new FileChecksumListImpl(); }

std::shared_ptr<FileChecksumGenFactory> GetFileChecksumGenCrc32cFactory() {
  static const auto factory = std::make_shared<Crc32cFactory>();
  return factory;
}

Status FileChecksumGenFactory::CreateFromString(const ConfigOptions& options,
                                                const std::string& text,
                                                std::shared_ptr<FileChecksumGenFactory>* result) {
  const auto built_in = [](const std::string& id, std::shared_ptr<FileChecksumGenFactory>* made) {
    if (id == Crc32cFactory::kClassName()) *made = GetFileChecksumGenCrc32cFactory();
    return Status::OK();
  };
  return compassdb::LoadObject<FileChecksumGenFactory>(options, "FileChecksumGenFactory", text,
                                                       built_in, result);
}

}  // namespace ROCKSDB_NAMESPACE
