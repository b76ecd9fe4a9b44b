// SPDX-License-Identifier: Apache-2.0
// The folder that `milieu demo` leaves behind: filled beside its place and renamed when complete.
// An earlier demo is replaced, anything else of the user's is left alone.
#pragma once

#include <memory>
#include <string>

#include "milieu/data/file/temporary.h"

namespace milieu::cli {

class DemoFolder {
 public:
  // Throws InvalidArgument when `path` is a file, or a folder that is neither empty nor an earlier
  // demo (which has our README.txt); IoError when it cannot be made.
  explicit DemoFolder(std::string path);
  ~DemoFolder();  // removes what was not committed
  DemoFolder(const DemoFolder&) = delete;
  DemoFolder& operator=(const DemoFolder&) = delete;

  // Where to write until commit.
  const std::string& workplace() const;
  // Writes README.txt, which marks the folder as a demo, and puts the folder in its place.
  void commit(const std::string& readme);

 private:
  void check_place() const;

  std::string path_;                            // without a slash at the end
  std::unique_ptr<TemporaryFolder> workplace_;  // beside it
};

}  // namespace milieu::cli
