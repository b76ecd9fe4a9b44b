// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/base/summary.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/text_file.h"
#include "milieu/feature/cache/feature_folder_internal.h"
#include "milieu/feature/cache/shard_job_internal.h"
#include "milieu/linalg/isa.h"

namespace milieu::internal {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string listing_csv(const ImageFolder& images) {
  CsvWriter table;
  table.row("path", "class");
  for (size_t i = 0; i < images.paths.size(); ++i) {
    const int label = images.labels.empty() ? -1 : images.labels.indices[i];
    table.row(images.paths[i], label < 0 ? "" : images.labels.names[static_cast<size_t>(label)]);
  }
  return table.text();
}

Json to_json(const ShardJob& job, const std::string& listing) {
  return {{"version", version()},
          {"instruction_set", to_string(active_isa())},
          {"shards", job.count},
          {"images", job.source},
          {"absolute_images", job.absolute_source},
          {"num_images", job.images.paths.size()},
          {"listing", hex(hash_text(listing))},
          {"features", job.features},
          {"patches", job.patches},
          {"max_side", job.decode.max_side},
          {"max_pixels", job.decode.max_pixels}};
}

Json to_json(const RowKeys& keys) {
  Json json = Json::object();
  for (const auto& [feature, key] : keys) json[feature] = key;
  return json;
}

Json read_json(const std::string& path) {
  try {
    return Json::parse(read_text_file(path));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{} is damaged: {}", path, error.what()));
  }
}

// What every shard of a folder must say in the same way: written by the first, compared by the
// others.
void agree(const std::string& out, const std::string& name, const Json& json) {
  const std::string path = shard_file(out, name);
  if (!fs::exists(path)) {
    write_file_atomically(path, text_of(json));
    return;
  }
  const Json theirs = read_json(path), ours = Json::parse(text_of(json));
  for (const auto& [key, value] : ours.items())
    if (!theirs.contains(key) || theirs[key] != value)
      throw InvalidArgument(fmt::format(
          "{0} holds shards of another job: {1} is {2} there and {3} here; give every shard the "
          "same command, files and program, or remove {0}/.milieu/shards to start over",
          out, key, theirs.contains(key) ? theirs[key].dump() : "missing", value.dump()));
}

ImageFolder read_listing(const std::string& path, const std::string& root,
                         const std::string& hash) {
  const std::string text = read_text_file(path);
  if (hex(hash_text(text)) != hash) throw DataError(fmt::format("{} is damaged", path));
  ImageFolder images;
  images.root = root;
  std::vector<std::string> classes;
  for (std::vector<std::string>& cells : read_csv_records(text)) {
    images.paths.push_back(std::move(cells.at(0)));
    classes.push_back(std::move(cells.at(1)));
  }
  images.labels = labels_from_classes(classes);
  return images;
}

}  // namespace

std::string shard_file(const std::string& out, const std::string& name) {
  return hidden(out, "shards/" + name);
}
std::string shard_file(const std::string& out, const Shard& shard, const std::string& ending) {
  return shard_file(out, shard.name() + "." + ending);
}

bool has_shards(const std::string& out) { return fs::exists(shard_file(out, "job.json")); }

void agree_on_job(const std::string& out, const ShardJob& job) {
  const std::string listing = listing_csv(job.images);
  const std::string path = shard_file(out, "listing.csv");
  // The listing comes first, because job.json says that there is a job; and it is written again
  // where a run of an earlier version was killed between the two.
  if (!has_shards(out)) write_file_atomically(path, listing);
  agree(out, "job.json", to_json(job, listing));
  if (!fs::exists(path)) write_file_atomically(path, listing);
}

void agree_on_keys(const std::string& out, const RowKeys& keys) {
  agree(out, "keys.json", to_json(keys));
}

ShardJob read_shard_job(const std::string& out) {
  if (!has_shards(out))
    throw InvalidArgument(
        fmt::format("{0} holds no shards to merge: make them first, with milieu features IN "
                    "--feature LIST --out {0} --shard 1/2 and --shard 2/2",
                    out));
  const std::string path = shard_file(out, "job.json");
  const Json json = read_json(path);
  try {
    if (json.at("version") != version())
      throw InvalidArgument(fmt::format(
          "the shards of {} were made by Milieu {}, this is {}: merge them with that version", out,
          json.at("version").get<std::string>(), version()));
    ShardJob job;
    job.count = json.at("shards");
    job.source = json.at("images");
    job.absolute_source = json.at("absolute_images");
    job.images = read_listing(shard_file(out, "listing.csv"), job.source, json.at("listing"));
    job.features = json.at("features");
    job.patches = json.at("patches");
    job.decode.max_side = json.at("max_side");
    job.decode.max_pixels = json.at("max_pixels");
    return job;
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{} is damaged: {}", path, error.what()));
  }
}

void write_shard_done(const std::string& out, const Shard& shard,
                      const std::vector<ImageFolder::Skipped>& skipped) {
  CsvWriter table;
  table.row("path", "reason");
  for (const ImageFolder::Skipped& one : skipped) table.row(one.path, one.reason);
  write_file_atomically(shard_file(out, shard, "done"), table.text());
}

std::vector<ImageFolder::Skipped> read_shard_done(const std::string& out, const Shard& shard) {
  const std::string path = shard_file(out, shard, "done");
  std::vector<ImageFolder::Skipped> skipped;
  for (const std::vector<std::string>& cells : read_csv_records(read_text_file(path))) {
    if (cells.size() != 2) throw DataError(fmt::format("{} is damaged", path));
    skipped.push_back({cells[0], cells[1]});
  }
  return skipped;
}

void check_shards_done(const std::string& out, int count) {
  std::vector<std::string> missing;
  for (int index = 1; index <= count; ++index)
    if (!fs::exists(shard_file(out, {index, count}, "done")))
      missing.push_back(Shard{index, count}.text());
  check_complete(missing, out);
}

void remove_shards(const std::string& out) { fs::remove_all(hidden(out, "shards")); }

}  // namespace milieu::internal
