// SPDX-License-Identifier: Apache-2.0
#include "encryption/seal.h"

#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "util/coding.h"
#include "util/crc32c.h"

namespace compassdb {

namespace {

using rocksdb::Slice;
using rocksdb::Status;

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

const unsigned char* Bytes(const char* p) { return reinterpret_cast<const unsigned char*>(p); }
unsigned char* Bytes(char* p) { return reinterpret_cast<unsigned char*>(p); }

Status LibraryError(const char* what) { return Status::IOError("OpenSSL", what); }

// The seal also covers file, place, and the segment's length.
struct Associated {
  Associated(const std::array<unsigned char, kSealFileIdBytes>& file_id, uint64_t segment_offset,
             uint32_t segment_bytes, uint32_t index) {
    memcpy(bytes, file_id.data(), kSealFileIdBytes);
    EncodeFixed64(bytes + kSealFileIdBytes, segment_offset);
    EncodeFixed32(bytes + kSealFileIdBytes + 8, segment_bytes);
    EncodeFixed32(bytes + kSealFileIdBytes + 12, index);
  }
  char bytes[kSealFileIdBytes + 16];
};

// The chunk's own nonce: the segment's, plus the index in the last four bytes.
std::array<unsigned char, kSealNonceBytes> ChunkNonce(const unsigned char* nonce, uint32_t index) {
  std::array<unsigned char, kSealNonceBytes> result;
  memcpy(result.data(), nonce, kSealNonceBytes);
  char* const last = reinterpret_cast<char*>(result.data()) + kSealNonceBytes - 4;
  EncodeFixed32(last, DecodeFixed32(last) + index);
  return result;
}

}  // namespace

Status RandomBytes(unsigned char* bytes, size_t n) {
  return RAND_bytes(bytes, static_cast<int>(n)) == 1 ? Status::OK() : LibraryError("RAND_bytes");
}

uint64_t SealKeyId(const SealKey& key) {
  static constexpr char kLabel[] = "compassdb key id";
  unsigned char input[sizeof(kLabel) + kSealKeyBytes];
  memcpy(input, kLabel, sizeof(kLabel));
  memcpy(input + sizeof(kLabel), key.data(), kSealKeyBytes);
  unsigned char digest[EVP_MAX_MD_SIZE] = {};
  unsigned int size = 0;
  EVP_Digest(input, sizeof(input), digest, &size, EVP_sha256(), nullptr);
  return DecodeFixed64(reinterpret_cast<const char*>(digest));
}

Status FileSeal::Derive(const SealKey& master, const Slice& file_id, FileSeal* seal) {
  static constexpr unsigned char kInfo[] = "compassdb sealed file 1";
  struct Free {
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  };
  std::unique_ptr<EVP_PKEY_CTX, Free> kdf(EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr));
  size_t size = seal->key_.size();
  if (kdf == nullptr || EVP_PKEY_derive_init(kdf.get()) <= 0 ||
      EVP_PKEY_CTX_set_hkdf_md(kdf.get(), EVP_sha256()) <= 0 ||
      EVP_PKEY_CTX_set1_hkdf_salt(kdf.get(), Bytes(file_id.data()),
                                  static_cast<int>(file_id.size())) <= 0 ||
      EVP_PKEY_CTX_set1_hkdf_key(kdf.get(), master.data(), static_cast<int>(master.size())) <= 0 ||
      EVP_PKEY_CTX_add1_hkdf_info(kdf.get(), kInfo, sizeof(kInfo) - 1) <= 0 ||
      EVP_PKEY_derive(kdf.get(), seal->key_.data(), &size) <= 0) {
    return LibraryError("HKDF");
  }
  memcpy(seal->file_id_.data(), file_id.data(), kSealFileIdBytes);
  return Status::OK();
}

Status FileSeal::SealSegment(uint64_t offset, const Slice& plain, std::string* out) const {
  const auto segment_bytes = static_cast<uint32_t>(plain.size());
  unsigned char nonce[kSealNonceBytes];
  if (Status s = RandomBytes(nonce, sizeof(nonce)); !s.ok()) return s;
  size_t at = out->size();
  out->resize(at + StoredSegmentBytes(plain.size()));
  EncodeFixed32(out->data() + at, segment_bytes);
  memcpy(out->data() + at + 4, nonce, sizeof(nonce));
  // Detects damage. Attacks break the seals.
  EncodeFixed32(out->data() + at + 4 + sizeof(nonce), Crc32c(out->data() + at, 4 + sizeof(nonce)));
  at += kSegmentHeaderBytes;

  Cipher cipher(EVP_CIPHER_CTX_new());
  if (cipher == nullptr ||
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key_.data(), nullptr) != 1) {
    return LibraryError("AES-256-GCM");
  }
  uint32_t index = 0;
  for (size_t done = 0; done < plain.size(); ++index) {
    const size_t n = std::min(kSealChunkBytes, plain.size() - done);
    const Associated associated(file_id_, offset, segment_bytes, index);
    const auto chunk_nonce = ChunkNonce(nonce, index);
    unsigned char* const target = Bytes(out->data() + at);
    int written = 0, last = 0;
    if (EVP_EncryptInit_ex(cipher.get(), nullptr, nullptr, nullptr, chunk_nonce.data()) != 1 ||
        EVP_EncryptUpdate(cipher.get(), nullptr, &written, Bytes(associated.bytes),
                          sizeof(associated.bytes)) != 1 ||
        EVP_EncryptUpdate(cipher.get(), target, &written, Bytes(plain.data() + done),
                          static_cast<int>(n)) != 1 ||
        EVP_EncryptFinal_ex(cipher.get(), target + written, &last) != 1 ||
        EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kSealTagBytes, target + n) != 1) {
      return LibraryError("sealing");
    }
    at += n + kSealTagBytes;
    done += n;
  }
  return Status::OK();
}

Status FileSeal::OpenChunk(const unsigned char* nonce, uint64_t segment_offset,
                           uint32_t segment_bytes, uint32_t index, const Slice& stored,
                           char* plain) const {
  const size_t n = stored.size() - kSealTagBytes;
  const Associated associated(file_id_, segment_offset, segment_bytes, index);
  const auto chunk_nonce = ChunkNonce(nonce, index);
  unsigned char tag[kSealTagBytes];
  memcpy(tag, stored.data() + n, sizeof(tag));
  Cipher cipher(EVP_CIPHER_CTX_new());
  int written = 0, last = 0;
  if (cipher == nullptr ||
      EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key_.data(),
                         chunk_nonce.data()) != 1 ||
      EVP_DecryptUpdate(cipher.get(), nullptr, &written, Bytes(associated.bytes),
                        sizeof(associated.bytes)) != 1 ||
      EVP_DecryptUpdate(cipher.get(), Bytes(plain), &written, Bytes(stored.data()),
                        static_cast<int>(n)) != 1 ||
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kSealTagBytes, tag) != 1) {
    return LibraryError("opening a seal");
  }
  if (EVP_DecryptFinal_ex(cipher.get(), Bytes(plain) + written, &last) != 1) {
    return Status::Corruption("broken seal");
  }
  return Status::OK();
}

}  // namespace compassdb
