// SPDX-License-Identifier: Apache-2.0
// From an image to the input of a network: scale, crop, numbers per channel, order of the axes.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "milieu/base/fields.h"
#include "milieu/feature/image.h"
#include "milieu/feature/network/graph_internal.h"
#include "milieu/feature/network/resample_internal.h"
#include "milieu/feature/network/session_internal.h"

namespace milieu::internal {

enum class NetworkPreset { Auto, Imagenet, Clip, Dinov2, Unit };
enum class CropMode { Auto, Yes, No };
enum class InputLayout { Auto, ChannelsFirst, ChannelsLast };

// What users may say; everything else comes from the preset and from the network.
struct PreprocessOptions {
  NetworkPreset preset = NetworkPreset::Auto;
  int size = 0;
  int resize = 0;
  Interpolation interpolation = Interpolation::Auto;
  CropMode crop = CropMode::Auto;
  std::string scale, mean, std;  // "0.5", or "0.485/0.456/0.406"; "": the preset's
  bool bgr = false;
  InputLayout layout = InputLayout::Auto;
};

template <class Visitor>
void visit_fields(PreprocessOptions& o, Visitor&& v) {
  v("preset", o.preset,
    one_of<NetworkPreset>({{"auto", NetworkPreset::Auto},
                           {"imagenet", NetworkPreset::Imagenet},
                           {"clip", NetworkPreset::Clip},
                           {"dinov2", NetworkPreset::Dinov2},
                           {"unit", NetworkPreset::Unit}}),
    "how images are prepared; auto: as the preprocessor_config.json beside the model says, else "
    "unit (pixels in [0, 1])");
  v("size", o.size, between(1, 4096).or_word("auto", 0),
    "side of the network's input in pixels; auto: the network's own, else the preset's");
  v("resize", o.resize, between(1, 8192).or_word("auto", 0),
    "side that the shorter edge is scaled to before the crop");
  v("interpolation", o.interpolation,
    one_of<Interpolation>({{"auto", Interpolation::Auto},
                           {"bilinear", Interpolation::Bilinear},
                           {"bicubic", Interpolation::Bicubic},
                           {"lanczos", Interpolation::Lanczos}}),
    "how images are scaled, antialiased as Pillow and torchvision do it");
  v("crop", o.crop,
    one_of<CropMode>({{"auto", CropMode::Auto}, {"true", CropMode::Yes}, {"false", CropMode::No}}),
    "crop the centre; false: the whole image is squeezed to the network's shape");
  v("scale", o.scale, anything(),
    "factor of pixel values in [0, 255]; one number or three (a/b/c); by default the preset's");
  v("mean", o.mean, anything(), "subtracted after scaling; one number or three");
  v("std", o.std, anything(), "divided by after subtracting the mean; one number or three");
  v("bgr", o.bgr, anything(), "channels in the order blue, green, red");
  v("layout", o.layout,
    one_of<InputLayout>({{"auto", InputLayout::Auto},
                         {"nchw", InputLayout::ChannelsFirst},
                         {"nhwc", InputLayout::ChannelsLast}}),
    "order of the input's axes, where the network does not say it");
}

// A Hugging Face preprocessor_config.json; empty text: there is none.
struct PreprocessorConfig {
  std::string path;
  std::string_view text;
};

struct Preprocessing {
  int width = 0, height = 0, batch = 1;
  double margin = 1;         // the image is scaled to this many times what the crop needs
  bool keeps_aspect = true;  // false: squeezed
  Interpolation interpolation = Interpolation::Bilinear;
  std::array<std::array<float, 256>, 3> values = {};  // of a byte, by channel of the input
  bool bgr = false;
  bool channels_last = false;
};

// Throws InvalidArgument for options that contradict the network, DataError for a network that
// takes no images or a config that cannot be read. `path` names the network in messages.
Preprocessing make_preprocessing(const PreprocessOptions& options, const PreprocessorConfig& config,
                                 const Graph& graph, const std::string& path);

// Where the network looks: the image is scaled to width x height, of which it sees the box.
struct Placement {
  int width = 0, height = 0;
  CropBox box;
};
Placement place_image(const Preprocessing& how, int width, int height);

Tensor to_input(const Preprocessing& how, const Image& image);

}  // namespace milieu::internal
