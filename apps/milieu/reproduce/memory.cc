// SPDX-License-Identifier: Apache-2.0
#include "reproduce/memory.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/text_file.h"

namespace milieu::cli {

using Json = nlohmann::json;

namespace {

// JSON has no infinity: such numbers are written as text.
Json to_json(const std::vector<double>& figures) {
  Json all = Json::array();
  for (const double x : figures)
    all.push_back(std::isfinite(x) ? Json(x) : Json(fmt::format("{}", x)));
  return all;
}

std::vector<double> figures_from(const Json& json) {
  std::vector<double> figures;
  for (const Json& x : json)
    figures.push_back(x.is_string() ? std::strtod(x.get<std::string>().c_str(), nullptr)
                                    : x.get<double>());
  return figures;
}

}  // namespace

ReproduceMemory::ReproduceMemory(std::string path, std::string key)
    : path_(std::move(path)), key_(std::move(key)) {
  if (path_.empty()) return;
  const std::optional<std::string> text = try_read_text_file(path_);
  if (!text) return;
  try {
    read(*text);
  } catch (const Json::exception&) {
    throw DataError(fmt::format(
        "{} does not hold the results of an experiment: choose another file, or remove it", path_));
  }
}

void ReproduceMemory::read(const std::string& text) {
  const Json json = Json::parse(text);
  if (json.at("key") != key_)
    throw InvalidArgument(fmt::format(
        "{} was written with other options ({}), these are {}: choose another file, or remove it",
        path_, json.at("key").dump(), key_));
  for (const auto& [name, piece] : json.at("pieces").items())
    pieces_[name] = {piece.at("data"), figures_from(piece.at("figures"))};
}

std::optional<std::vector<double>> ReproduceMemory::find(const std::string& name,
                                                         const std::string& data) const {
  const std::scoped_lock lock(mutex_);
  const auto found = pieces_.find(name);
  if (found == pieces_.end()) return std::nullopt;
  if (found->second.data != data)
    throw InvalidArgument(fmt::format(
        "{} has figures of other data for \"{}\": the data sets have changed since; name another "
        "file, or remove it",
        path_, name));
  return found->second.figures;
}

void ReproduceMemory::add(const std::string& name, const std::string& data,
                          const std::vector<double>& figures) {
  if (!is_kept()) return;
  const std::scoped_lock lock(mutex_);
  pieces_[name] = {data, figures};
  Json pieces = Json::object();
  for (const auto& [each, piece] : pieces_)
    pieces[each] = {{"data", piece.data}, {"figures", to_json(piece.figures)}};
  write_file_atomically(path_, Json{{"key", key_}, {"pieces", pieces}}.dump() + "\n");
}

}  // namespace milieu::cli
