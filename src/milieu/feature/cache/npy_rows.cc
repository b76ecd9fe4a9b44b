// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/cache/npy_rows.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "milieu/base/error.h"
#include "milieu/data/dataset.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/data/mapped_file.h"

namespace milieu {
namespace {

constexpr int64_t kAmbiguous = -1;

class NpyRows : public Feature {
 public:
  explicit NpyRows(std::string path) : path_(std::move(path)) {}

  std::vector<Field> fields() override { return fields_of(*this); }

  void prepare() override {
    points_ = load_dataset(path_).points;
    const std::string names =
        names_.empty() ? std::filesystem::path(path_).replace_extension(".txt").string() : names_;
    const auto file = MappedFile::open(names);
    read_names(file->text());
    if (num_names_ != points_.rows())
      throw DataError(fmt::format("{} has {} names, {} has {} rows: they must match", names,
                                  num_names_, path_, points_.rows()));
    fingerprint_ = Fingerprint("npy-rows").text(file->text()).rows(points_.view()).hex();
  }

  std::string fingerprint() const override { return fingerprint_; }

  std::vector<float> whole(const SourceImage& source) const override {
    auto found = rows_.find(source.path);
    if (found == rows_.end()) found = rows_.find(bare(source.path));
    if (found == rows_.end())
      throw DataError(fmt::format("{} has no row in {}", source.path, path_));
    if (found->second == kAmbiguous)
      throw DataError(fmt::format("{} is in {} more than once: give paths instead of file names",
                                  found->first, path_));
    const auto row = points_.view().row_span(found->second);
    return {row.begin(), row.end()};
  }

  template <class Visitor>
  friend void visit_fields(NpyRows& o, Visitor&& v) {
    v("names", o.names_, anything(), "file with the image name of every row, one per line");
  }

 private:
  static std::string bare(const std::string& path) { return path.substr(path.rfind('/') + 1); }

  void add(const std::string& name, int64_t row) {
    const auto [place, is_new] = rows_.emplace(name, row);
    if (!is_new && place->second != row) place->second = kAmbiguous;
  }

  void read_names(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      std::string name(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (name.ends_with('\r')) name.pop_back();
      if (name.starts_with("./")) name.erase(0, 2);
      if (name.empty() && text.empty()) break;
      const int64_t row = num_names_++;
      add(name, row);
      if (bare(name) != name) add(bare(name), row);
    }
  }

  std::string path_;
  std::string names_;
  Points points_;
  std::string fingerprint_;
  int64_t num_names_ = 0;
  std::unordered_map<std::string, int64_t> rows_;  // looked up, never walked
};

}  // namespace

std::unique_ptr<Feature> make_npy_rows(const std::string& path) {
  return std::make_unique<NpyRows>(path);
}

}  // namespace milieu
