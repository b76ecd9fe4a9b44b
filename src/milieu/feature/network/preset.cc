// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/network/preset_internal.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "milieu/base/error.h"

namespace milieu::internal {
namespace {

using nlohmann::json;

constexpr std::array<double, 3> kImagenetMean = {0.485, 0.456, 0.406};
constexpr std::array<double, 3> kImagenetStd = {0.229, 0.224, 0.225};
constexpr std::array<double, 3> kClipMean = {0.48145466, 0.4578275, 0.40821073};
constexpr std::array<double, 3> kClipStd = {0.26862954, 0.26130258, 0.27577711};
constexpr double kUsualMargin = 256.0 / 224;

[[noreturn]] void refuse(const PreprocessorConfig& config, const std::string& what) {
  throw DataError(
      fmt::format("{}: {}; correct it, or choose preset=imagenet, clip, dinov2 or unit instead",
                  config.path, what));
}

bool flag_of(const json& config, const char* name, bool otherwise) {
  const auto found = config.find(name);
  return found != config.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

// A side in pixels from 224, {"shortest_edge": 224} or {"height": 224, "width": 224}; 0: not given.
int side_of(const json& config, const char* name, const PreprocessorConfig& source) {
  const auto found = config.find(name);
  if (found == config.end() || found->is_null()) return 0;
  const json* value = &*found;
  if (value->is_object())
    for (const char* key : {"shortest_edge", "height"})
      if (value->contains(key)) {
        value = &(*value)[key];
        break;
      }
  if (!value->is_number_integer() || *value < 1 || *value > 8192)
    refuse(source, fmt::format("{} is {}, must be a whole number from 1 to 8192", name,
                               found->dump().substr(0, 60)));
  return value->get<int>();
}

std::array<double, 3> triple_of(const json& config, const char* name,
                                const PreprocessorConfig& source) {
  const auto found = config.find(name);
  std::array<double, 3> values = {};
  const bool is_list = found != config.end() && found->is_array() && found->size() == 3;
  for (size_t c = 0; c < 3; ++c) {
    const json* value = is_list ? &(*found)[c] : found != config.end() ? &*found : nullptr;
    if (!value || !value->is_number())
      refuse(source, fmt::format("{} must be a number or a list of three", name));
    values[c] = value->get<double>();
  }
  return values;
}

// Pillow's numbers of its filters.
Interpolation filter_of(const json& config, const PreprocessorConfig& source) {
  const json number = config.value("resample", json(2));
  if (number == 1) return Interpolation::Lanczos;
  if (number == 2) return Interpolation::Bilinear;
  if (number == 3) return Interpolation::Bicubic;
  refuse(source, fmt::format("resample is {}, must be 1 (lanczos), 2 (bilinear) or 3 (bicubic)",
                             number.dump().substr(0, 60)));
}

// How the image is scaled and cropped. `crop_pct` is the share of the scaled image that is kept.
void read_geometry(const json& config, const PreprocessorConfig& source, Preset& preset) {
  const int size = side_of(config, "size", source);
  const bool is_shortest = config.contains("size") && config["size"].is_object() &&
                           config["size"].contains("shortest_edge");
  const bool crops = flag_of(config, "do_center_crop", false);
  const int crop = crops ? side_of(config, "crop_size", source) : 0;
  preset.size = crop > 0 ? crop : size > 0 ? size : preset.size;
  preset.keeps_aspect = crops || is_shortest;
  if (crop > 0 && size > 0) preset.margin = std::max(1.0, static_cast<double>(size) / crop);
  const json share = config.value("crop_pct", json());
  if (!crops && is_shortest && share.is_number() && share > 0.1 && share <= 1)
    preset.margin = 1 / share.get<double>();
}

}  // namespace

Preset preset_of(NetworkPreset name) {
  Preset preset;
  if (name == NetworkPreset::Imagenet || name == NetworkPreset::Dinov2) {
    preset.margin = kUsualMargin;
    preset.mean = kImagenetMean, preset.std = kImagenetStd;
  }
  if (name == NetworkPreset::Clip) preset.mean = kClipMean, preset.std = kClipStd;
  if (name == NetworkPreset::Clip || name == NetworkPreset::Dinov2)
    preset.interpolation = Interpolation::Bicubic;
  return preset;
}

Preset read_preset(const PreprocessorConfig& source) {
  const json config = json::parse(source.text, nullptr, false);
  if (!config.is_object()) refuse(source, "it is not a JSON object");
  Preset preset;
  preset.interpolation = filter_of(config, source);
  read_geometry(config, source, preset);
  if (!flag_of(config, "do_rescale", true))
    preset.scale = {1, 1, 1};
  else if (config.contains("rescale_factor"))
    preset.scale = triple_of(config, "rescale_factor", source);
  if (flag_of(config, "do_normalize", true) && config.contains("image_mean")) {
    preset.mean = triple_of(config, "image_mean", source);
    preset.std = triple_of(config, "image_std", source);
  }
  return preset;
}

}  // namespace milieu::internal
