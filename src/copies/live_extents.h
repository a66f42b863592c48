// SPDX-License-Identifier: Apache-2.0
// Which bytes of which compaction file a manifest needs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "table/piece/piece_meta.h"

namespace compassdb {

using ExtentsByFile = std::map<uint64_t, std::vector<Extent>>;

// Replays manifest `number` in `dir`.
Status ReadLiveExtents(FileSystem* fs, const std::string& dir, uint64_t number,
                       ExtentsByFile* extents);

}  // namespace compassdb
