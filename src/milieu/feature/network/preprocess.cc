// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/network/preprocess_internal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "milieu/base/error.h"
#include "milieu/data/printable.h"
#include "milieu/feature/network/preset_internal.h"

namespace milieu::internal {
namespace {

constexpr int64_t kMostSide = 4096;
constexpr int64_t kMostBatch = 256;
constexpr int64_t kByteType = 2;  // TensorProto.DataType

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

// What the options say instead of the preset.
void apply_numbers(const PreprocessOptions& options, Preset& preset) {
  if (!options.scale.empty()) preset.scale = parse_triple("scale", options.scale);
  if (!options.mean.empty()) preset.mean = parse_triple("mean", options.mean);
  if (!options.std.empty()) preset.std = parse_triple("std", options.std);
  for (const double value : preset.std)
    if (value == 0) throw InvalidArgument("std is 0, must not be 0");
  if (options.interpolation != Interpolation::Auto) preset.interpolation = options.interpolation;
  if (options.crop == CropMode::Yes) preset.keeps_aspect = true;
  if (options.crop == CropMode::No) preset.keeps_aspect = false, preset.margin = 1;
}

const GraphInput& image_input(const Graph& graph, const std::string& path) {
  if (graph.inputs.size() != 1) {
    std::vector<std::string> names;
    for (const GraphInput& input : graph.inputs) names.push_back(input.name);
    throw DataError(
        fmt::format("{} has {} inputs ({}), must have one, the image: export only the part of the "
                    "network that sees images",
                    path, graph.inputs.size(), printable_list(names)));
  }
  const GraphInput& input = graph.inputs[0];
  if (!input.shape.empty() && input.shape.size() != 4)
    throw DataError(fmt::format("{} takes an input of {}, must be batch x 3 x height x width", path,
                                shape_text(input.shape)));
  return input;
}

// Which axis has the channels.
bool has_channels_last(InputLayout layout, const std::vector<int64_t>& shape,
                       const std::string& path) {
  const bool may_be_first = shape[1] == 3 || shape[1] == -1;
  const bool may_be_last = shape[3] == 3 || shape[3] == -1;
  const bool is_last =
      layout == InputLayout::ChannelsLast ||
      (layout == InputLayout::Auto && (!may_be_first || (shape[1] == -1 && shape[3] == 3)));
  if (is_last ? !may_be_last : !may_be_first)
    throw DataError(fmt::format("{} takes an input of {}, must have three channels{}", path,
                                shape_text(shape),
                                layout == InputLayout::Auto ? "" : ": leave layout out"));
  return is_last;
}

// The side that the network itself wants, else what the options or the preset say.
int side_of(int64_t own, const PreprocessOptions& options, const Preset& preset,
            const std::string& path) {
  if (own <= 0) return options.size > 0 ? options.size : preset.size;
  if (own > kMostSide)
    throw DataError(fmt::format("{} takes images of {} pixels per side, at most {} are allowed",
                                path, own, kMostSide));
  if (options.size > 0 && options.size != own)
    throw InvalidArgument(
        fmt::format("size is {}, but {} takes {} pixels: leave size out", options.size, path, own));
  return static_cast<int>(own);
}

void set_shape(const PreprocessOptions& options, const Preset& preset, const GraphInput& input,
               const std::string& path, Preprocessing& out) {
  const std::vector<int64_t> shape =
      input.shape.empty() ? std::vector<int64_t>{-1, -1, -1, -1} : input.shape;
  out.channels_last = has_channels_last(options.layout, shape, path);
  out.height = side_of(shape[out.channels_last ? 1 : 2], options, preset, path);
  out.width = side_of(shape[out.channels_last ? 2 : 3], options, preset, path);
  if (shape[0] > kMostBatch)
    throw DataError(fmt::format(
        "{} takes {} images at once, at most {} are allowed: export it with a batch of 1", path,
        shape[0], kMostBatch));
  out.batch = static_cast<int>(std::max<int64_t>(1, shape[0]));
}

void set_margin(const PreprocessOptions& options, Preprocessing& out) {
  if (options.resize == 0) return;
  const int side = std::min(out.width, out.height);
  if (options.resize < side)
    throw InvalidArgument(
        fmt::format("resize is {}, must be at least the size, {}", options.resize, side));
  out.margin = static_cast<double>(options.resize) / side;
}

// As torchvision rounds it: halves to the even number.
int centered(int outer, int inner) {
  return static_cast<int>(std::nearbyint((outer - inner) / 2.0));
}

}  // namespace

Preprocessing make_preprocessing(const PreprocessOptions& options, const PreprocessorConfig& config,
                                 const Graph& graph, const std::string& path) {
  const bool uses_config = options.preset == NetworkPreset::Auto && !config.text.empty();
  Preset preset = uses_config ? read_preset(config) : preset_of(options.preset);
  apply_numbers(options, preset);
  const GraphInput& input = image_input(graph, path);
  Preprocessing out;
  set_shape(options, preset, input, path, out);
  out.margin = preset.margin;
  out.keeps_aspect = preset.keeps_aspect;
  out.interpolation = preset.interpolation;
  out.bgr = options.bgr;
  set_margin(options, out);
  for (int c = 0; c < 3; ++c)
    for (int byte = 0; byte < 256; ++byte)
      out.values[c][byte] =
          input.type == kByteType
              ? static_cast<float>(byte)
              : static_cast<float>((byte * preset.scale[c] - preset.mean[c]) / preset.std[c]);
  return out;
}

Placement place_image(const Preprocessing& how, int width, int height) {
  const auto with_margin = [&](int side) {
    return std::max(side, static_cast<int>(std::lround(how.margin * side)));
  };
  Placement place;
  place.width = with_margin(how.width), place.height = with_margin(how.height);
  // The edge that needs the larger scale sets it; the other keeps the aspect, rounded down.
  const int64_t w = width, h = height;
  if (how.keeps_aspect && place.width * h >= place.height * w)
    place.height = std::max(how.height, static_cast<int>(place.width * h / w));
  else if (how.keeps_aspect)
    place.width = std::max(how.width, static_cast<int>(place.height * w / h));
  place.box = {centered(place.width, how.width), centered(place.height, how.height), how.width,
               how.height};
  return place;
}

Tensor to_input(const Preprocessing& how, const Image& image) {
  const Placement place = place_image(how, image.width, image.height);
  const Image fitted = resample(image, place.width, place.height, place.box, how.interpolation);
  const size_t area = static_cast<size_t>(how.width) * how.height;
  Tensor out;
  if (how.channels_last)
    out.shape = {how.batch, how.height, how.width, 3};
  else
    out.shape = {how.batch, 3, how.height, how.width};
  out.values.resize(3 * area * how.batch);
  for (size_t c = 0; c < 3; ++c) {
    const auto& values = how.values[c];
    const uint8_t* pixel = fitted.rgb.data() + (how.bgr ? 2 - c : c);
    float* to = out.values.data() + (how.channels_last ? c : c * area);
    const size_t step = how.channels_last ? 3 : 1;
    for (size_t i = 0; i < area; ++i) to[i * step] = values[pixel[3 * i]];
  }
  // A network with a fixed batch sees the same image several times; the first answer counts.
  for (int i = 1; i < how.batch; ++i)
    std::copy_n(out.values.begin(), 3 * area,
                out.values.begin() + static_cast<int64_t>(i * 3 * area));
  return out;
}

}  // namespace milieu::internal
