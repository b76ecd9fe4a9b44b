// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/network/onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <mutex>
#include <opencv2/dnn.hpp>
#include <regex>
#include <span>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/feature/decode/decode.h"
#include "milieu/feature/opencv_internal.h"

namespace milieu {
namespace {

// "0.5" for all channels, or "0.485/0.456/0.406".
std::array<double, 3> parse_triple(const std::string& name, const std::string& text) {
  std::array<double, 3> values = {};
  size_t count = 0;
  const char* at = text.data();
  const char* end = at + text.size();
  while (count < 3) {
    const auto [rest, error] = std::from_chars(at, end, values[count]);
    if (error != std::errc()) break;
    ++count;
    at = rest;
    if (at == end || *at != '/') break;
    ++at;
  }
  if (at != end || (count != 1 && count != 3))
    throw InvalidArgument(fmt::format(
        "{} is '{}', must be one number, or three with slashes, such as 0.485/0.456/0.406", name,
        text));
  if (count == 1) values[1] = values[2] = values[0];
  return values;
}

// OpenCV's sentence about a model, cut down to what helps: the operator, if it is named.
std::string explain(const cv::Exception& error) {
  const std::string text = error.err.empty() ? error.what() : error.err;
  for (const char* pattern : {R"(Node \[([A-Za-z0-9_@.]+)\])", R"(of type .?([A-Za-z0-9_@.]+))",
                              R"([Uu]nsupported (?:operation|layer)[^A-Za-z]*([A-Za-z0-9_]+))"}) {
    std::smatch match;
    if (std::regex_search(text, match, std::regex(pattern)))
      return fmt::format("its operator {} is not supported", match.str(1));
  }
  return text.substr(0, text.find('\n'));
}

struct OnnxOptions {
  int size = 224;
  std::string scale = "0.00392156862745098";  // 1 / 255
  std::string mean = "0";
  std::string std = "1";
  std::string layer;
  bool crop = true;
  bool bgr = false;
  bool normalize = true;
};

template <class Visitor>
void visit_fields(OnnxOptions& o, Visitor&& v) {
  v("size", o.size, between(1, 4096), "side of the network's square input in pixels");
  v("scale", o.scale, anything(),
    "factor of pixel values in [0, 255]; one number or three (a/b/c)");
  v("mean", o.mean, anything(), "subtracted after scaling; one number or three");
  v("std", o.std, anything(), "divided by after subtracting the mean; one number or three");
  v("layer", o.layer, anything(), "name of the output to use; by default the network's own");
  v("crop", o.crop, anything(), "crop the central square; else the whole image is squeezed");
  v("bgr", o.bgr, anything(), "channels in the order blue, green, red");
  v("normalize", o.normalize, anything(), "scale the vector to norm 1");
}

class Onnx : public Feature {
 public:
  explicit Onnx(std::string path) : path_(std::move(path)) {}

  std::vector<Field> fields() override { return fields_of(options_); }

  void prepare() override {
    validate_options(options_);
    scale_ = parse_triple("scale", options_.scale);
    mean_ = parse_triple("mean", options_.mean);
    std_ = parse_triple("std", options_.std);
    for (const double value : std_)
      if (value == 0) throw InvalidArgument("std is 0, must not be 0");
    model_ = read_image_file(path_);  // the bytes of any file
    internal::quiet_opencv();
    nets_.push_back(make_net());
    check_output(
        run(cv::Mat(std::vector<int>{1, 3, options_.size, options_.size}, CV_32F, cv::Scalar(0))));
  }

  std::string fingerprint() const override { return hex(hash_bytes(model_)); }

  std::vector<float> whole(const SourceImage& source) const override {
    const cv::Mat out = run(to_blob(source.image));
    std::vector<float> values(out.ptr<float>(), out.ptr<float>() + out.total());
    finish(values);
    return values;
  }

 protected:
  // Throws DataError when the output is not what the feature needs.
  virtual void check_output(const cv::Mat&) const {}

  // Scales one vector to norm 1 where that is asked for.
  void finish(std::span<float> values) const {
    if (!options_.normalize) return;
    double squares = 0;
    for (const double value : values) squares += value * value;
    if (squares > 0)
      for (float& value : values) value = static_cast<float>(value / std::sqrt(squares));
  }

  // The blob N x C x H x W of one image.
  cv::Mat to_blob(const Image& image) const {
    const int side = options_.size;
    const Image fitted =
        options_.crop ? resize(central_square(image), side, side) : resize(image, side, side);
    cv::Mat blob(std::vector<int>{1, 3, side, side}, CV_32F);
    for (int c = 0; c < 3; ++c)
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
          const double pixel = fitted.pixel(x, y)[options_.bgr ? 2 - c : c];
          blob.ptr<float>(0, c, y)[x] =
              static_cast<float>((pixel * scale_[c] - mean_[c]) / std_[c]);
        }
    return blob;
  }

  static Image central_square(const Image& image) {
    const int side = std::min(image.width, image.height);
    Image out = make_image(side, side);
    const int left = (image.width - side) / 2, top = (image.height - side) / 2;
    for (int y = 0; y < side; ++y)
      std::copy_n(image.pixel(left, top + y), size_t{3} * side, out.pixel(0, y));
    return out;
  }

  // One network per thread: forward() changes it.
  cv::Mat run(const cv::Mat& blob) const {
    cv::dnn::Net net;
    {
      const std::lock_guard lock(mutex_);
      if (!nets_.empty()) {
        net = nets_.back();
        nets_.pop_back();
      }
    }
    if (net.empty()) net = make_net();
    cv::Mat values;
    try {
      net.setInput(blob);
      const cv::Mat out = options_.layer.empty() ? net.forward() : net.forward(options_.layer);
      if (out.type() != CV_32F || out.total() == 0)
        throw DataError(fmt::format("the output of {} is not float", path_));
      values = out.clone();  // the network keeps its own
    } catch (const cv::Exception& error) {
      throw DataError(fmt::format("{} cannot be run by OpenCV {} on a 1 x 3 x {} x {} input: {}",
                                  path_, CV_VERSION, options_.size, options_.size, explain(error)));
    }
    const std::lock_guard lock(mutex_);
    nets_.push_back(net);
    return values;
  }

  std::string path_;
  OnnxOptions options_;

 private:
  cv::dnn::Net make_net() const {
    try {
      cv::dnn::Net net =
          cv::dnn::readNetFromONNX(reinterpret_cast<const char*>(model_.data()), model_.size());
      net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
      return net;
    } catch (const cv::Exception& error) {
      throw DataError(fmt::format(
          "{} cannot be read by OpenCV {}: {}; compute the vectors elsewhere and give them as "
          "npy:FILE (docs/features.md)",
          path_, CV_VERSION, explain(error)));
    }
  }

  std::array<double, 3> scale_ = {}, mean_ = {}, std_ = {};
  std::vector<uint8_t> model_;
  mutable std::mutex mutex_;
  mutable std::vector<cv::dnn::Net> nets_;  // idle ones
};

// The output 1 x C x rows x columns as a grid of descriptors of C numbers.
class OnnxPatches : public Onnx {
 public:
  using Onnx::Onnx;

  LocalDescriptors local(const SourceImage& source) const override {
    const Image& image = source.image;
    const cv::Mat out = run(to_blob(image));
    const int channels = out.size[1], rows = out.size[2], cols = out.size[3];
    LocalDescriptors found;
    found.grid_rows = rows, found.grid_cols = cols;
    found.descriptors = Matrix<float>(int64_t{rows} * cols, channels);
    found.frames = Matrix<float>(int64_t{rows} * cols, 4);
    const int square = std::min(image.width, image.height);
    const int width = options_.crop ? square : image.width;
    const int height = options_.crop ? square : image.height;
    const double cell_width = static_cast<double>(width) / cols;
    const double cell_height = static_cast<double>(height) / rows;
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < cols; ++x) {
        const int64_t i = int64_t{y} * cols + x;
        for (int c = 0; c < channels; ++c) found.descriptors(i, c) = out.ptr<float>(0, c, y)[x];
        finish(found.descriptors.row_span(i));
        found.frames(i, 0) =
            static_cast<float>((image.width - width) / 2 + (x + 0.5) * cell_width - 0.5);
        found.frames(i, 1) =
            static_cast<float>((image.height - height) / 2 + (y + 0.5) * cell_height - 0.5);
        found.frames(i, 2) = static_cast<float>(std::max(cell_width, cell_height));
      }
    return found;
  }

 protected:
  void check_output(const cv::Mat& out) const override {
    if (out.dims == 4 && out.size[0] == 1) return;
    std::string shape;
    for (int i = 0; i < out.dims; ++i)
      shape += fmt::format("{}{}", i > 0 ? " x " : "", out.size[i]);
    throw DataError(
        fmt::format("{} gives an output of {}, patches need a map 1 x channels x rows x columns: "
                    "choose a layer "
                    "that has one (layer=NAME), or use feature onnx for one vector per image",
                    path_, shape));
  }
};

}  // namespace

std::unique_ptr<Feature> make_onnx_patches(const std::string& path) {
  return std::make_unique<OnnxPatches>(path);
}

std::unique_ptr<Feature> make_onnx(const std::string& path) { return std::make_unique<Onnx>(path); }

}  // namespace milieu
