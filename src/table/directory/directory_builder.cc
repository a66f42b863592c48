// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "perfect_hash/perfect_hash.h"
#include "table/directory/directory.h"
#include "table/directory/directory_format.h"
#include "util/coding.h"

namespace compassdb {

namespace {

class SlotArrayWriter {
 public:
  SlotArrayWriter(uint64_t slots, uint32_t bits)
      : bits_(bits), bytes_(SlotArrayBytes(slots, bits) + kSlotPadding) {}
  // Each slot once: the bits are zero before.
  void Set(uint64_t slot, uint64_t value) {
    const uint64_t bit = slot * bits_;
    char* p = bytes_.data() + bit / 8;
    EncodeFixed64(p, DecodeFixed64(p) | value << (bit & 7));
  }
  void AppendTo(std::string* out) const {
    out->append(bytes_.data(), bytes_.size() - kSlotPadding);
  }

 private:
  const uint64_t bits_;
  std::vector<char> bytes_;
};

}  // namespace

bool BuildDirectory(std::span<const DirectoryEntry> entries, size_t pieces,
                    uint32_t min_fingerprints,
                    const perfect_hash::BuildOptions& function_options, std::string* out) {
  if (pieces > kMaxDirectoryPieces || min_fingerprints < 1 || min_fingerprints > kMaxFingerprints) {
    return false;
  }
  std::vector<uint64_t> hashes;
  std::vector<uint64_t> ambiguous;
  hashes.reserve(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const DirectoryEntry& e = entries[i];
    if (e.piece >= pieces) return false;
    if (i > 0 && e.h1 < entries[i - 1].h1) return false;
    if (i > 0 && e.h1 == entries[i - 1].h1) {
      if (ambiguous.empty() || ambiguous.back() != e.h1) ambiguous.push_back(e.h1);
    } else {
      hashes.push_back(e.h1);
    }
  }
  if (ambiguous.size() > UINT32_MAX) return false;

  std::string function_bytes;
  perfect_hash::BuildOptions options = function_options;
  options.sorted = true;
  if (!perfect_hash::Build(hashes, options, &function_bytes).ok) return false;
  perfect_hash::Function function;
  if (!perfect_hash::Function::Open(
          {reinterpret_cast<const uint8_t*>(function_bytes.data()), function_bytes.size()},
          &function)) {
    return false;
  }

  const uint32_t slot_bits = SlotBitsFor(pieces, min_fingerprints);
  const uint64_t fingerprints = FingerprintsFor(pieces, slot_bits);
  SlotArrayWriter slots(function.slots(), slot_bits);
  constexpr size_t kBatch = 64;
  uint64_t slot[kBatch];
  for (size_t i = 0, distinct = 0; distinct < hashes.size(); distinct += kBatch) {
    const size_t n = std::min(kBatch, hashes.size() - distinct);
    function.Batch(hashes.data() + distinct, slot, n);
    for (size_t k = 0; k < n; ++k) {
      const DirectoryEntry& e = entries[i];  // the first of those that share their h1
      slots.Set(slot[k], 1 + FingerprintOf(e.h2, fingerprints) * pieces + e.piece);
      for (++i; i < entries.size() && entries[i].h1 == e.h1;) ++i;
    }
  }

  out->clear();
  out->reserve(kDirectoryHeaderBytes + function_bytes.size() + 8 * ambiguous.size() +
               SlotArrayBytes(function.slots(), slot_bits) + kSlotPadding);
  PutFixed64(out, kDirectoryMagic);
  PutFixed32(out, kDirectoryVersion);
  PutFixed32(out, static_cast<uint32_t>(pieces));
  PutFixed64(out, entries.size());
  PutFixed64(out, function.slots());
  PutFixed64(out, options.seed);
  PutFixed64(out, fingerprints);
  PutFixed32(out, slot_bits);
  PutFixed32(out, static_cast<uint32_t>(ambiguous.size()));
  PutFixed64(out, function_bytes.size());
  PutFixed64(out, kPageSlots);
  out->append(function_bytes);
  for (uint64_t h1 : ambiguous) PutFixed64(out, h1);
  slots.AppendTo(out);
  return true;
}

}  // namespace compassdb
