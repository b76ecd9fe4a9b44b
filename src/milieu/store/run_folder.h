// SPDX-License-Identifier: Apache-2.0
// Run folders: options.json, summary.json, labels.csv, model.safetensors, report.html. The folder
// is filled beside its place and renamed when complete: it appears whole or not at all, and an
// older run is kept until the new one is complete. docs/format.md describes the files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/store/columns.h"
#include "milieu/store/model_file.h"

namespace MILIEU_API milieu {

class TemporaryFolder;

class RunFolder {
 public:
  // Make it before a long run: whatever is in the way is reported at once. Missing parents are
  // made. Refuses (InvalidArgument) a file, and an existing non-empty folder unless `force`; with
  // force only an earlier run folder (it has a summary.json) is replaced, never another folder of
  // the user's. A symbolic link to a folder stays, its folder is replaced. IoError when the folder
  // cannot be made.
  RunFolder(std::string path, bool force);
  ~RunFolder();  // removes what was not committed
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  // `name` is a plain file name; a missing newline at the end is added.
  void write_text(std::string_view name, std::string_view content);
  // The bytes as they are: pictures and the like.
  void write_file(std::string_view name, std::string_view content);
  void write_model(const ModelFile& file);                 // model.safetensors
  void write_columns(const std::vector<Column>& columns);  // columns.safetensors
  // labels.csv with the header sample,label. A sample is called by its name, or by its original row
  // where `rows` are given, or by its place; `names` and `rows` are empty or as long as `labels`.
  void write_labels(std::span<const int> labels, const std::vector<std::string>& names,
                    std::span<const int64_t> rows);
  // A file that `write_to` writes at the path it is given.
  void write(std::string_view name, const std::function<void(const std::string& path)>& write_to);
  // Puts the folder in its place. A folder that appeared there meanwhile is replaced or refused by
  // the same rules. Call once; nothing can be written afterwards.
  void commit();

  const std::string& path() const { return path_; }

 private:
  std::string path_;    // as given
  std::string target_;  // what path_ leads to, without a slash at the end
  bool force_ = false;
  std::unique_ptr<TemporaryFolder> temporary_;  // beside target_; null once committed
};

// A labels.csv by itself, atomically: what RunFolder::write_labels writes.
void write_labels_csv(const std::string& path, std::span<const int> labels,
                      const std::vector<std::string>& names, std::span<const int64_t> rows);

// The model file that `path` means: the file itself, or model.safetensors in a run folder. IoError
// when there is no such path, InvalidArgument for a folder without a model.
std::string resolve_model_path(const std::string& path);

}  // namespace milieu
