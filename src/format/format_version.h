// SPDX-License-Identifier: Apache-2.0
// The format version ladder. Each file names its format (a magic number) and
// its version. A reader accepts every version from the oldest up to its own. A
// newer one is NotSupported, with both numbers. A version is raised if an older
// reader would misread the file, never for additions
// that older readers skip.
#pragma once

#include <cstdint>

namespace compassdb {

struct FileFormat {
  const char* name;
  uint64_t magic;
  uint32_t oldest;   // the oldest version that this release reads
  uint32_t current;  // the version that this release writes
};

// Magic numbers are eight ASCII characters, first character in the low byte.
constexpr uint64_t FormatMagic(const char (&text)[9]) {
  uint64_t magic = 0;
  for (int i = 7; i >= 0; --i) magic = magic << 8 | static_cast<unsigned char>(text[i]);
  return magic;
}

inline constexpr FileFormat kWalFormat{"write-ahead log", FormatMagic("CmpsWal1"), 2, 3};
inline constexpr FileFormat kSyncedMarkFormat{"synced mark", FormatMagic("CmpsSyn1"), 1, 1};
inline constexpr FileFormat kManifestFormat{"manifest", FormatMagic("CmpsMan1"), 2, 8};
inline constexpr FileFormat kPieceFormat{"piece", FormatMagic("CmpsPie1"), 4, 6};
inline constexpr FileFormat kTableFileFormat{"table file", FormatMagic("CmpsTbl1"), 1, 1};
inline constexpr FileFormat kJobRecordFormat{"job record", FormatMagic("CmpsJob1"), 1, 1};
inline constexpr FileFormat kPieceFileFormat{"compaction file", FormatMagic("CmpsPhF1"), 1, 1};

constexpr bool CanReadVersion(const FileFormat& format, uint32_t version) {
  return version >= format.oldest && version <= format.current;
}

}  // namespace compassdb
