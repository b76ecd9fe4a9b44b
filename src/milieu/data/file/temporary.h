// SPDX-License-Identifier: Apache-2.0
// Files and folders that are being written lie beside their place under a short random name,
// .milieu-tmp-XXXXXXXXXXXX, until they are complete. Their writer holds a lock on them: what nobody
// holds is left over from a killed run, and is removed by the next one that writes to the folder.
#pragma once

#include <string>
#include <string_view>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

bool is_temporary_name(std::string_view name);

// A new file, locked. Its descriptor is the lock.
struct TemporaryFile {
  int fd = -1;  // -1: it could not be made, errno says why
  std::string path;
};
TemporaryFile make_temporary_file(const std::string& folder);

// A new folder that takes the place of another when it is complete.
class TemporaryFolder {
 public:
  // Beside `target`; `shown` is what messages call it. Missing parents are made. Throws IoError.
  TemporaryFolder(std::string target, std::string shown);
  ~TemporaryFolder();  // removes it unless it was put in place
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }  // empty once in place
  // Puts it in the place of the target, which may exist, in one step: at any moment the target is
  // the old folder or the new one. Throws IoError.
  void put_in_place();

 private:
  void exchange_in_steps();

  std::string target_, shown_, path_;
  int lock_ = -1;
};

// Some file systems cannot exchange two folders in one step: a kill between two renames then leaves
// `target` away. If so, the old folder is put back.
void restore_replaced(const std::string& target);

// Removes what killed runs left in the folder, if it is a minute old and nobody holds it. A folder
// is looked at once per process.
void sweep_temporaries(const std::string& folder);

// The folder that holds `path`.
std::string folder_of(const std::string& path);
// Asks for the folder's names to be on disk. Not every file system can; the files themselves are
// there by then, so a failure is not reported.
void sync_folder(const std::string& path);

}  // namespace milieu
