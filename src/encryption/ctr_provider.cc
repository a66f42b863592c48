// SPDX-License-Identifier: Apache-2.0
// Block ciphers of the application as stream ciphers (counter mode), and the cipher
// for tests.
//
// The prefix of a file is drawn at random: eight bytes of counter, a start value of one
// block, and the rest.
#include <algorithm>
#include <cctype>
#include <cstring>

#include "api/option_string.h"
#include "api/registered.h"
#include "encryption/seal.h"
#include "encryption/sealing_provider.h"
#include "rocksdb/env_encryption.h"
#include "util/c_locale.h"
#include "util/coding.h"

namespace rocksdb {

namespace {

class Rot13Cipher final : public BlockCipher {
 public:
  explicit Rot13Cipher(size_t block_size) : block_size_(block_size) {}
  static const char* kClassName() { return "ROT13"; }
  const char* Name() const override { return kClassName(); }
  std::string GetId() const override {
    return std::string(kClassName()) + ":" + std::to_string(block_size_);
  }
  size_t BlockSize() override { return block_size_; }
  Status Encrypt(char* data) override {
    for (size_t i = 0; i < block_size_; ++i) data[i] = static_cast<char>(data[i] + 13);
    return Status::OK();
  }
  Status Decrypt(char* data) override {
    for (size_t i = 0; i < block_size_; ++i) data[i] = static_cast<char>(data[i] - 13);
    return Status::OK();
  }

 private:
  const size_t block_size_;
};

// The key stream is the cipher of (start value, its first eight bytes replaced by the counter).
class CtrStream final : public BlockAccessCipherStream {
 public:
  CtrStream(std::shared_ptr<BlockCipher> cipher, std::string start, uint64_t counter)
      : cipher_(std::move(cipher)), start_(std::move(start)), counter_(counter) {}
  size_t BlockSize() override { return start_.size(); }

 protected:
  void AllocateScratch(std::string& scratch) override { scratch.resize(start_.size()); }
  Status EncryptBlock(uint64_t block, char* data, char* scratch) override {
    memcpy(scratch, start_.data(), start_.size());
    char counter[8];
    compassdb::EncodeFixed64(counter, counter_ + block);
    memcpy(scratch, counter, std::min(sizeof(counter), start_.size()));
    Status s = cipher_->Encrypt(scratch);
    for (size_t i = 0; s.ok() && i < start_.size(); ++i) {
      data[i] = static_cast<char>(data[i] ^ scratch[i]);
    }
    return s;
  }
  Status DecryptBlock(uint64_t block, char* data, char* scratch) override {
    return EncryptBlock(block, data, scratch);
  }

 private:
  const std::shared_ptr<BlockCipher> cipher_;
  const std::string start_;
  const uint64_t counter_;
};

class CtrProvider final : public EncryptionProvider {
 public:
  explicit CtrProvider(std::shared_ptr<BlockCipher> cipher) : cipher_(std::move(cipher)) {}
  static const char* kClassName() { return "CTR"; }
  const char* Name() const override { return kClassName(); }
  size_t GetPrefixLength() const override { return 4096; }
  Status CreateNewPrefix(const std::string& path, char* prefix, size_t length) const override {
    if (cipher_ == nullptr) return Status::InvalidArgument("no cipher was added", path);
    return compassdb::RandomBytes(reinterpret_cast<unsigned char*>(prefix), length);
  }
  // Takes the text of BlockCipher::CreateFromString.
  Status AddCipher(const std::string& descriptor, const char* cipher, size_t length,
                   bool) override {
    if (cipher_ != nullptr) return Status::NotSupported("there is a cipher already", descriptor);
    return CreateCipher(std::string(cipher, length), &cipher_);
  }
  Status CreateCipherStream(const std::string& path, const EnvOptions&, Slice& prefix,
                            std::unique_ptr<BlockAccessCipherStream>* result) override {
    if (cipher_ == nullptr) return Status::InvalidArgument("no cipher was added", path);
    const size_t block = cipher_->BlockSize();
    if (block == 0 || prefix.size() < GetPrefixLength() || block > GetPrefixLength() - 8) {
      return Status::Corruption("encryption prefix too short: the file is damaged, or not encrypted", path);
    }
    *result = std::make_unique<CtrStream>(cipher_, std::string(prefix.data() + 8, block),
                                          compassdb::DecodeFixed64(prefix.data()));
    return Status::OK();
  }
  static Status CreateCipher(const std::string& value, std::shared_ptr<BlockCipher>* result);

 private:
  std::shared_ptr<BlockCipher> cipher_;
};

Status CtrProvider::CreateCipher(const std::string& value, std::shared_ptr<BlockCipher>* result) {
  const std::string name = value.substr(0, value.find(':'));
  if (name != Rot13Cipher::kClassName()) {
    return Status::NotFound("Could not find block cipher", value);
  }
  size_t block_size = 32;
  if (name.size() < value.size()) {
    const std::string number = value.substr(name.size() + 1);
    if (number.empty() || number.size() > 4 ||
        !std::all_of(number.begin(), number.end(), compassdb::IsAsciiDigit)) {
      return Status::InvalidArgument("block size of a cipher", value);
    }
    block_size = std::stoul(number);
    if (block_size == 0) return Status::InvalidArgument("block size of a cipher", value);
  }
  *result = std::make_shared<Rot13Cipher>(block_size);
  return Status::OK();
}

}  // namespace

std::shared_ptr<BlockCipher> BlockCipher::NewROT13Cipher(size_t block_size) {
  return std::make_shared<Rot13Cipher>(block_size);
}

Status BlockCipher::CreateFromString(const ConfigOptions& config, const std::string& value,
                                     std::shared_ptr<BlockCipher>* result) {
  Status s;
  if (compassdb::NewRegistered<BlockCipher>(config, value, result, &s)) return s;
  std::string id;
  compassdb::OptionMap options;
  compassdb::ParseObjectString(value, "", &id, &options);
  if (!id.empty()) {
    s = CtrProvider::CreateCipher(id, result);
    if (s.IsNotFound()) return compassdb::UnknownObject(config, "BlockCipher", value);
    if (!s.ok()) return s;
  }
  if (!options.empty()) return compassdb::UnknownOption(value, options);
  if (id.empty()) result->reset();
  return s;
}

std::shared_ptr<EncryptionProvider> EncryptionProvider::NewCTRProvider(
    const std::shared_ptr<BlockCipher>& cipher) {
  return std::make_shared<CtrProvider>(cipher);
}

Status EncryptionProvider::CreateFromString(const ConfigOptions& config, const std::string& value,
                                            std::shared_ptr<EncryptionProvider>* result) {
  Status s;
  if (compassdb::NewRegistered<EncryptionProvider>(config, value, result, &s)) return s;
  std::string id;
  compassdb::OptionMap options;
  compassdb::ParseObjectString(value, "", &id, &options);
  std::shared_ptr<EncryptionProvider> made;
  if (id == CtrProvider::kClassName()) {
    std::shared_ptr<BlockCipher> cipher;
    if (const auto given = options.find("cipher"); given != options.end()) {
      ConfigOptions strict = config;  // a provider without its cipher is not what was asked for
      strict.ignore_unsupported_options = false;
      if (s = BlockCipher::CreateFromString(strict, given->second, &cipher); !s.ok()) return s;
      options.erase(given);
    }
    made = std::make_shared<CtrProvider>(cipher);
  } else if (id == std::string(CtrProvider::kClassName()) + "://test") {
    made = NewCTRProvider(BlockCipher::NewROT13Cipher(32));
  } else if (id == compassdb::SealingProvider::kClassName()) {
    made = std::make_shared<compassdb::SealingProvider>();
  } else if (!id.empty()) {
    return compassdb::UnknownObject(config, "EncryptionProvider", value);
  }
  if (!options.empty()) return compassdb::UnknownOption(value, options);
  *result = std::move(made);
  return Status::OK();
}

}  // namespace rocksdb
