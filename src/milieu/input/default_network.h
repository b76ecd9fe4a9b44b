// SPDX-License-Identifier: Apache-2.0
// The network that a user has set up once, as the feature of all commands.
#pragma once

#include <string>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// What MILIEU_NETWORK says (FILE, or FILE with options: net.onnx:preset=imagenet), else the line
// `network = FILE` of the user's configuration file, as a feature: "onnx:FILE", with `local`
// "onnx-patches:FILE". "" when there is none. Throws InvalidArgument for a configuration that
// cannot be understood.
std::string default_network_feature(bool local = false);

// What describes images when nothing is asked for: that network, else gist (`local`: dense-sift).
std::string default_feature(bool local = false);

// ~/.config/milieu/config, or milieu/config below XDG_CONFIG_HOME; "" without a home.
std::string user_config_path();

}  // namespace milieu
