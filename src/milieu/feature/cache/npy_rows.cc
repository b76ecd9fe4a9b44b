// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/cache/npy_rows.h"

#include <fmt/format.h>

#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/data/dataset.h"
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
      throw DataError(fmt::format("{} has {} names, {} has {} rows: they must match", names,
                                  rows_.size(), path_, points_.rows()));
    const FloatView view = points_.view();
    uint64_t hash = hash_text(file->text());
    for (int64_t i = 0; i < view.rows(); ++i)
      hash = hash_bytes({reinterpret_cast<const uint8_t*>(view.row(i)),
                         static_cast<size_t>(view.cols()) * sizeof(float)},
                        hash);
    fingerprint_ = hex(hash);
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
