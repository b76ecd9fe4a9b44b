// SPDX-License-Identifier: Apache-2.0
// Run folders: options.json, summary.json, labels.csv, model.safetensors, report.html. The folder is
// filled beside its place and renamed when complete: it appears whole or not at all, and an older
// run is kept until the new one is complete.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/store/model_file.h"

namespace milieu {

class RunFolder {
 public:
  // Refuses (InvalidArgument) an existing non-empty `path` unless `force`; with force only an
  // earlier run folder (it has a summary.json) is replaced, never another folder of the user's.
  RunFolder(std::string path, bool force);
  ~RunFolder();  // removes what was not committed
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  void write_text(std::string_view name, std::string_view content);
  void write_model(const ModelFile& file);
  // sample,label: `names` may be empty (then the row number, or `rows` when given).
  void write_labels(std::span<const int> labels, const std::vector<std::string>& names,
                    std::span<const int64_t> rows);
  void commit();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string temporary_;
  bool force_ = false;
  bool is_committed_ = false;
};

// The model file that `path` means: the file itself, or model.safetensors in a run folder.
std::string resolve_model_path(const std::string& path);

}  // namespace milieu
