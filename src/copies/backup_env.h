// SPDX-License-Identifier: Apache-2.0
// Opens a backup where it is: a file system in which the shared files of one
// backup appear in its private folder, under their names in the database.
//
// Thread safety: as the file system below. Nothing can be changed through it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "copies/backup_meta.h"
#include "env/file_system.h"

namespace compassdb {

// `base` is shared with the result. Files in `private_dir` are as they are.
std::shared_ptr<FileSystem> NewBackupFileSystem(std::shared_ptr<FileSystem> base,
                                                const std::string& backup_dir,
                                                const std::string& private_dir,
                                                const std::vector<BackupFile>& files);

}  // namespace compassdb
