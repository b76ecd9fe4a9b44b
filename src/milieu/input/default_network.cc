// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/default_network.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/data/mapped_file.h"
#include "milieu/data/printable.h"
#include "milieu/data/row_names.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// Relative to the configuration file, or to the home folder.
std::string placed(const std::string& file, const std::string& config) {
  if (file.starts_with("~/")) return variable("HOME") + file.substr(1);
  return fs::path(file).is_absolute() ? file : (fs::path(config).parent_path() / file).string();
}

std::string network_of_config() {
  const std::string path = user_config_path();
  std::error_code error;
  if (path.empty() || !fs::is_regular_file(path, error)) return "";
  std::string network;
  int number = 0;
  for (const std::string& line : lines_of(MappedFile::open(path)->text())) {
    ++number;
    const std::string text = trimmed(line.substr(0, line.find('#')));
    if (text.empty()) continue;
    const size_t equals = text.find('=');
    if (equals == std::string::npos || trimmed(text.substr(0, equals)) != "network")
      throw InvalidArgument(
          fmt::format("{}, line {}: '{}' must be network = FILE, or a comment "
                      "after #",
                      path, number, printable(text)));
    network = trimmed(text.substr(equals + 1));
  }
  return network.empty() ? "" : placed(network, path);
}

}  // namespace

std::string user_config_path() {
  if (const std::string folder = variable("XDG_CONFIG_HOME"); !folder.empty())
    return folder + "/milieu/config";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.config/milieu/config";
}

std::string default_network_feature(bool local) {
  std::string network = variable("MILIEU_NETWORK");
  if (network.empty()) network = network_of_config();
  if (network.empty()) return "";
  return (local ? "onnx-patches:" : "onnx:") + network;
}

std::string default_feature(bool local) {
  const std::string network = default_network_feature(local);
  if (!network.empty()) return network;
  return local ? "dense-sift" : "gist";
}

}  // namespace milieu
