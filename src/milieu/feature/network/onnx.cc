// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/network/onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/feature/network/network_internal.h"
#include "milieu/feature/network/output_internal.h"
#include "milieu/feature/network/preprocess_internal.h"

namespace milieu {
namespace {

using namespace internal;

struct OnnxOptions {
  PreprocessOptions image;
  std::string layer;
  bool normalize = true;
};

template <class Visitor>
void visit_fields(OnnxOptions& o, Visitor&& v) {
  visit_fields(o.image, v);
  v("layer", o.layer, anything(),
    "tensor or node to use; by default the network's first output, for patches the last map or "
    "tokens before it");
  v("normalize", o.normalize, anything(), "scale the vector to norm 1");
}

struct PoolOptions {
  PoolMode mode = PoolMode::Auto;
};

template <class Visitor>
void visit_fields(PoolOptions& o, Visitor&& v) {
  v("pool", o.mode,
    one_of<PoolMode>({{"auto", PoolMode::Auto},
                      {"class", PoolMode::Class},
                      {"mean", PoolMode::Mean},
                      {"flat", PoolMode::Flat}}),
    "one vector from a map or tokens: the class token, the mean of all positions, or every number; "
    "auto: the class token where there is one, else the mean");
}

// What both features share: the file, the images that go in, the tensor that comes out.
class NetworkFeature : public Feature {
 public:
  explicit NetworkFeature(std::string path) : path_(std::move(path)) {}

  std::vector<Field> fields() override { return fields_of(options_); }

  void prepare() override {
    validate_fields(fields());
    network_.read(path_, options_.layer, wants_positions());
    PreprocessorConfig config;
    config.path =
        (std::filesystem::path(path_).parent_path() / "preprocessor_config.json").string();
    std::shared_ptr<const MappedFile> file;
    if (options_.image.preset == NetworkPreset::Auto && std::filesystem::exists(config.path)) {
      file = MappedFile::open(config.path);
      config.text = file->text();
    }
    how_ = make_preprocessing(options_.image, config, network_.graph(), path_);
    fingerprint_ = hex(hash_text(config.text, network_.checksum()));
  }

  std::string fingerprint() const override { return fingerprint_; }

  void open(const Monitor& monitor) override {
    std::vector<int64_t> shape = {how_.batch, 3, how_.height, how_.width};
    if (how_.channels_last) shape = {how_.batch, how_.height, how_.width, 3};
    shape = network_.open(shape, monitor);
    if (!monitor.should_stop()) check_output(shape);
  }

 protected:
  virtual bool wants_positions() const = 0;
  // Throws DataError when the output is not what the feature needs.
  virtual void check_output(const std::vector<int64_t>& shape) const = 0;

  // Of the first image, where the network always takes several.
  Tensor run(const Image& image) const {
    Tensor out = network_.run(to_input(how_, image));
    if (how_.batch > 1 && !out.shape.empty() && out.shape[0] == how_.batch) {
      out.shape[0] = 1;
      out.values.resize(out.values.size() / static_cast<size_t>(how_.batch));
    }
    return out;
  }

  std::optional<PositionGrid> grid_of(const std::vector<int64_t>& shape) const {
    return internal::grid_of(shape, how_.width, how_.height, how_.channels_last);
  }

  // Scales one vector to norm 1 where that is asked for.
  void finish(std::span<float> values) const {
    if (!options_.normalize) return;
    double squares = 0;
    for (const double value : values) squares += value * value;
    if (squares > 0)
      for (float& value : values) value = static_cast<float>(value / std::sqrt(squares));
  }

  std::string path_;
  OnnxOptions options_;
  Preprocessing how_;

 private:
  NetworkFile network_;
  std::string fingerprint_;
};

class Onnx : public NetworkFeature {
 public:
  using NetworkFeature::NetworkFeature;

  std::vector<Field> fields() override {
    std::vector<Field> fields = NetworkFeature::fields();
    for (Field& field : fields_of(pool_)) fields.push_back(std::move(field));
    return fields;
  }

  std::vector<float> whole(const SourceImage& source) const override {
    const Tensor out = run(source.image);
    std::vector<float> values = pool(out, grid_of(out.shape), pool_.mode);
    finish(values);
    return values;
  }

  // The network's own resampling averages over at least two pixels.
  int least_side() const override {
    return std::max(256, static_cast<int>(2 * how_.margin * std::max(how_.width, how_.height)));
  }

 protected:
  bool wants_positions() const override { return false; }
  void check_output(const std::vector<int64_t>& shape) const override {
    if (pool_.mode != PoolMode::Class) return;
    const auto grid = grid_of(shape);
    if (!grid || grid->num_extra == 0)
      throw DataError(fmt::format(
          "pool is class, but {} gives an output of {}, which has no class token: leave pool out",
          path_, shape_text(shape)));
  }

 private:
  PoolOptions pool_;
};

class OnnxPatches : public NetworkFeature {
 public:
  using NetworkFeature::NetworkFeature;

  LocalDescriptors local(const SourceImage& source) const override {
    const Tensor out = run(source.image);
    const auto grid = grid_of(out.shape);
    check_output(out.shape);
    LocalDescriptors found;
    found.grid_rows = static_cast<int>(grid->rows), found.grid_cols = static_cast<int>(grid->cols);
    found.descriptors = positions_of(out, *grid);
    for (int64_t i = 0; i < grid->size(); ++i) finish(found.descriptors.row_span(i));
    found.frames = frames_of(*grid, source.image);
    return found;
  }

 protected:
  bool wants_positions() const override { return true; }
  void check_output(const std::vector<int64_t>& shape) const override {
    if (grid_of(shape)) return;
    throw DataError(fmt::format(
        "{} gives an output of {}, patches need a map 1 x channels x rows x columns or tokens 1 x "
        "tokens x channels: choose a layer that has one (layer=NAME), or use feature onnx for one "
        "vector per image",
        path_, shape_text(shape)));
  }

 private:
  // The centre and the size of each cell, in pixels of the image.
  Matrix<float> frames_of(const PositionGrid& grid, const Image& image) const {
    const Placement place = place_image(how_, image.width, image.height);
    const double x_scale = static_cast<double>(image.width) / place.width;
    const double y_scale = static_cast<double>(image.height) / place.height;
    const double cell_width = static_cast<double>(place.box.width) / static_cast<double>(grid.cols);
    const double cell_height =
        static_cast<double>(place.box.height) / static_cast<double>(grid.rows);
    Matrix<float> frames(grid.size(), 4);
    for (int64_t i = 0; i < grid.size(); ++i) {
      const auto row = static_cast<double>(i / grid.cols), col = static_cast<double>(i % grid.cols);
      frames(i, 0) =
          static_cast<float>((place.box.left + (col + 0.5) * cell_width) * x_scale - 0.5);
      frames(i, 1) =
          static_cast<float>((place.box.top + (row + 0.5) * cell_height) * y_scale - 0.5);
      frames(i, 2) = static_cast<float>(std::max(cell_width * x_scale, cell_height * y_scale));
    }
    return frames;
  }
};

}  // namespace

std::unique_ptr<Feature> make_onnx_patches(const std::string& path) {
  return std::make_unique<OnnxPatches>(path);
}

std::unique_ptr<Feature> make_onnx(const std::string& path) { return std::make_unique<Onnx>(path); }

std::string describe_network_runtime() {
  try {
    return runtime_name();
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace milieu
