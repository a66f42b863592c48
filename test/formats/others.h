// SPDX-License-Identifier: Apache-2.0
// Other fixtures: an encrypted database, a directory of backups, a table file.
#pragma once

#include <filesystem>

namespace compassdb_test {

// Below `release`. Both say what is wrong.
bool MakeOthers(const std::filesystem::path& release);
// Those that there are, which *checked counts.
bool CheckOthers(const std::filesystem::path& release, int* checked);

}  // namespace compassdb_test
