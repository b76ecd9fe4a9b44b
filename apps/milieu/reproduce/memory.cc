// SPDX-License-Identifier: Apache-2.0
#include "reproduce/memory.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/text_file.h"

namespace milieu::cli {

using Json = nlohmann::json;

ReproduceMemory::ReproduceMemory(std::string path, std::string key)
    : path_(std::move(path)), key_(std::move(key)) {
  const std::optional<std::string> text = try_read_text_file(path_);
  if (!text) return;
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("key") || !json.contains("pieces") ||
      !json["pieces"].is_object())
    throw DataError(
        fmt::format("{} does not hold the results of an experiment: choose another file", path_));
  if (json["key"] != key_)
    throw InvalidArgument(fmt::format(
        "{} was written with other options ({}), these are {}: choose another file, or remove it",
        path_, json["key"].dump(), key_));
  try {
    pieces_ = json["pieces"].get<std::map<std::string, std::vector<double>>>();
  } catch (const Json::exception&) {
    throw DataError(fmt::format("{} holds something other than figures: remove it", path_));
  }
}

std::optional<std::vector<double>> ReproduceMemory::find(const std::string& name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = pieces_.find(name);
  if (found == pieces_.end()) return std::nullopt;
  return found->second;
}

void ReproduceMemory::add(const std::string& name, const std::vector<double>& figures) {
  if (path_.empty()) return;
  const std::scoped_lock lock(mutex_);
  pieces_[name] = figures;
  write_file_atomically(path_, Json{{"key", key_}, {"pieces", pieces_}}.dump() + "\n");
}

}  // namespace milieu::cli
