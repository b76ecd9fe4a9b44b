// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/cache/npy_rows.h"

#include <fmt/format.h>

#include <filesystem>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/dataset.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/data/mapped_file.h"
#include "milieu/data/row_names.h"

namespace milieu {
namespace {

class NpyRows : public Feature {
 public:
  explicit NpyRows(std::string path) : path_(std::move(path)) {}

  std::vector<Field> fields() override { return fields_of(*this); }

  void prepare() override {
    points_ = load_dataset(path_).points;
    const std::string names =
        names_.empty() ? std::filesystem::path(path_).replace_extension(".txt").string() : names_;
    const auto file = MappedFile::open(names);
    rows_ = RowNames(lines_of(file->text()));
    if (rows_.size() != points_.rows())
      throw DataError(fmt::format("{} has {}, {} has {}: they must match", names,
                                  counted(rows_.size(), "name"), path_,
                                  counted(points_.rows(), "row")));
    fingerprint_ = Fingerprint("npy-rows").text(file->text()).rows(points_.view()).hex();
  }

  std::string fingerprint() const override { return fingerprint_; }

  std::vector<float> whole(const SourceImage& source) const override {
    const int64_t found = rows_.find(source.path);
    if (found == RowNames::kNone)
      throw DataError(fmt::format("{} has no row in {}", source.path, path_));
    if (found == RowNames::kAmbiguous)
      throw DataError(fmt::format("{} is in {} more than once: give paths instead of file names",
                                  source.path, path_));
    const auto row = points_.view().row_span(found);
    return {row.begin(), row.end()};
  }

  template <class Visitor>
  friend void visit_fields(NpyRows& o, Visitor&& v) {
    v("names", o.names_, anything(), "file with the image name of every row, one per line");
  }

 private:
  std::string path_;
  std::string names_;
  Points points_;
  std::string fingerprint_;
  RowNames rows_;
};

}  // namespace

std::unique_ptr<Feature> make_npy_rows(const std::string& path) {
  return std::make_unique<NpyRows>(path);
}

}  // namespace milieu
