// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/feature/cache/file_index_internal.h"

namespace milieu::internal {
namespace {

using Json = nlohmann::json;

std::string check_of(const Json& line) {
  return Fingerprint("image-file")
      .text(line.dump(-1, ' ', true, Json::error_handler_t::replace))
      .hex();
}

// Paths are bytes, JSON is UTF-8: other bytes are written as if they were Latin-1 and read back
// that way.
std::string to_line(const std::string& image, const FileState& s) {
  Json bytes = Json::array();
  for (const char c : image) bytes.push_back(static_cast<unsigned char>(c));
  const bool is_ascii =
      std::all_of(image.begin(), image.end(), [](unsigned char c) { return c >= 32 && c < 127; });
  Json line = {is_ascii ? Json(image) : bytes,
               s.stamp.bytes,
               s.stamp.mtime_ns,
               hex(s.hash),
               s.width,
               s.height,
               s.error,
               s.stamp.ctime_ns,
               s.stamp.inode};
  line.push_back(check_of(line));
  return line.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

// Lines of 0.1.0 end after the error: what they say is a stamp that no file has, so that the file
// is read once more.
bool parse_line(const std::string& text, std::string& image, FileState& s) {
  Json line = Json::parse(text, nullptr, false);
  if (!line.is_array() || (line.size() != 7 && line.size() != 10)) return false;
  try {
    if (line.size() == 10) {
      const auto check = line[9].get<std::string>();
      line.erase(9);
      if (check != check_of(line)) return false;
      s.stamp.ctime_ns = line[7].get<int64_t>();
      s.stamp.inode = line[8].get<int64_t>();
    }
    if (line[0].is_string())
      image = line[0].get<std::string>();
    else
      for (const Json& byte : line[0]) image += static_cast<char>(byte.get<int>());
    s.stamp.bytes = line[1].get<int64_t>();
    s.stamp.mtime_ns = line[2].get<int64_t>();
    s.width = line[4].get<int>();
    s.height = line[5].get<int>();
    s.error = line[6].get<std::string>();
    return parse_hex(line[3].get<std::string>(), s.hash);
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace

FileIndex::FileIndex(std::string path) : path_(std::move(path)) { read(); }

FileIndex::~FileIndex() {
  if (file_) std::fclose(file_);
}

void FileIndex::read() {
  std::ifstream file(path_, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    std::string image;
    FileState state;
    if (file.eof() || !parse_line(line, image, state)) continue;  // cut off by a crash
    states_[image] = state;
    ++num_lines_;
  }
}

const FileState* FileIndex::find(const std::string& image, const FileStamp& now) const {
  const auto found = states_.find(image);
  const bool is_known = found != states_.end() && found->second.stamp == now;
  return is_known ? &found->second : nullptr;
}

const FileState* FileIndex::find_earlier(const std::string& image) const {
  const auto found = states_.find(image);
  return found != states_.end() ? &found->second : nullptr;
}

void FileIndex::append(const std::string& image, const FileState& state) {
  // A line that was cut off must not run into the next one.
  const bool is_first = file_ == nullptr;
  if (is_first) file_ = std::fopen(path_.c_str(), "ab");
  const std::string line = (is_first ? "\n" : "") + to_line(image, state);
  if (!file_ || std::fwrite(line.data(), 1, line.size(), file_) != line.size() ||
      std::fflush(file_) != 0)
    throw IoError(fmt::format("{} cannot be written: {}", path_, std::strerror(errno)));
  states_[image] = state;
  ++num_lines_;
}

void FileIndex::keep_only(const std::vector<std::string>& images) {
  const std::set<std::string> kept(images.begin(), images.end());
  std::erase_if(states_, [&](const auto& entry) { return kept.count(entry.first) == 0; });
  if (num_lines_ == static_cast<int64_t>(states_.size())) return;
  if (file_) std::fclose(std::exchange(file_, nullptr));
  std::string text;
  for (const auto& [image, state] : states_) text += to_line(image, state);
  write_file_atomically(path_, text);
  num_lines_ = static_cast<int64_t>(states_.size());
}

}  // namespace milieu::internal
