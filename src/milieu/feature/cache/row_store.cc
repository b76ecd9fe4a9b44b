// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <utility>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/feature/cache/row_store_internal.h"

namespace milieu::internal {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kFrameCols = 4;

std::string fresh(const std::string& path) { return path + ".new"; }

[[noreturn]] void fail_write(const std::string& path) {
  throw IoError(fmt::format("{} cannot be written: {}", path, std::strerror(errno)));
}

void write_all(std::FILE* file, const void* data, size_t bytes, const std::string& path) {
  if (bytes > 0 && std::fwrite(data, 1, bytes, file) != bytes) fail_write(path);
}

// Journals of 0.1.0 began with the key alone and had no checksums.
std::string journal_head(const std::string& key) { return "checked " + key; }

std::string line_of(uint64_t hash, int64_t rows, int64_t cols, int grid_rows, int grid_cols) {
  return fmt::format("{} {} {} {} {} ", hex(hash), rows, cols, grid_rows, grid_cols);
}

// What follows is damaged, or was never recorded.
void cut_at(std::FILE* file, int64_t bytes, const std::string& path) {
  if (::ftruncate(::fileno(file), static_cast<off_t>(bytes)) != 0 ||
      std::fseek(file, 0, SEEK_END) != 0)
    fail_write(path);
}

// A float .npy as it is, or nothing.
Points open_rows(const std::string& path) {
  try {
    Points points = to_points(open_npy(path));
    return points.is_mapped() ? points : Points();  // converted: not a file of ours
  } catch (const Error&) {
    return {};
  }
}

// The numbers of a .npy are the last thing in the file.
std::unique_ptr<FloatFile> open_values(const std::string& path, const Points& points) {
  const auto bytes = static_cast<int64_t>(sizeof(float)) * points.rows() * points.cols();
  return std::make_unique<FloatFile>(path, static_cast<int64_t>(fs::file_size(path)) - bytes);
}

}  // namespace

FloatFile::FloatFile(std::string path, int64_t header_bytes)
    : path_(std::move(path)), header_bytes_(header_bytes) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) throw IoError(fmt::format("{} cannot be read: {}", path_, std::strerror(errno)));
}

FloatFile::~FloatFile() { ::close(fd_); }

void FloatFile::read(int64_t begin, int64_t count, float* out) const {
  auto* to = reinterpret_cast<char*>(out);
  int64_t at = header_bytes_ + begin * static_cast<int64_t>(sizeof(float));
  int64_t left = count * static_cast<int64_t>(sizeof(float));
  while (left > 0) {
    const ssize_t got = ::pread(fd_, to, static_cast<size_t>(left), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw IoError(fmt::format("{} cannot be read: {}", path_,
                                got < 0 ? std::strerror(errno) : "it was truncated"));
    to += got;
    at += got;
    left -= got;
  }
}

RowStore::RowStore(StoreFiles files, std::string part, std::string key)
    : files_(std::move(files)),
      part_(part + ".part"),
      journal_(part + ".journal"),
      key_(std::move(key)) {
  read_part();
}

RowStore::~RowStore() {
  try {
    flush();
  } catch (const Error&) {
    // what is not in the journal is computed again
  }
  if (part_file_) std::fclose(part_file_);
  if (journal_file_) std::fclose(journal_file_);
}

void RowStore::take_finished(const std::vector<uint64_t>& hashes) {
  const auto n = static_cast<int64_t>(hashes.size());
  Points values = open_rows(files_.values);
  if (values.rows() == 0 && !files_.is_local()) return;
  std::vector<int64_t> offsets(hashes.size() + 1);
  std::vector<int64_t> grids(2 * hashes.size());
  Points frames;
  if (files_.is_local()) {
    try {
      offsets = to_integers(open_npy(files_.offsets));
      const RawArray raw = open_npy(files_.grids);
      if (raw.rows() != n || raw.cols() != 2) return;
      for (int64_t i = 0; i < 2 * n; ++i)
        grids[i] = static_cast<int64_t>(element_at(raw, i / 2, i % 2));
    } catch (const Error&) {
      return;
    }
    frames = open_rows(files_.frames);
    if (static_cast<int64_t>(offsets.size()) != n + 1 || offsets.back() != values.rows() ||
        frames.rows() != values.rows())
      return;
  } else {
    if (values.rows() != n) return;
    for (int64_t i = 0; i <= n; ++i) offsets[i] = i;
  }
  if (cols_ >= 0 && values.cols() != cols_) return;  // the part is newer
  cols_ = values.cols();
  values_ = open_values(files_.values, values);
  if (files_.is_local()) frames_ = open_values(files_.frames, frames);
  finished_ = hashes;
  for (int64_t i = 0; i < n; ++i)
    places_.emplace(hashes[i],
                    Place{nullptr, offsets[i], offsets[i + 1] - offsets[i],
                          static_cast<int>(grids[2 * i]), static_cast<int>(grids[2 * i + 1])});
}

void RowStore::take_part(const std::string& part) {
  RowStore other(files_, part, key_);
  if (!other.part_reader_) return;
  if (cols_ > 0 && other.cols_ > 0 && other.cols_ != cols_)
    throw DataError(
        fmt::format("{}.part has {}, others have {}", part, counted(other.cols_, "column"), cols_));
  if (cols_ <= 0) cols_ = other.cols_;
  for (const auto& [hash, place] : other.places_) places_.emplace(hash, place);
  taken_parts_.push_back(std::move(other.part_reader_));
}

// Of the line, the rows and the lines before: any damage shows.
std::string RowStore::check_of(std::string_view line, const std::vector<float>& floats) const {
  return Fingerprint("row-journal")
      .text(last_check_)
      .text(line)
      .values(std::span<const float>(floats))
      .hex();
}

// The journal's first line is the key; then "HASH ROWS COLS GRID_ROWS GRID_COLS CHECK" per image.
// The first line that does not match its rows ends what is believed.
void RowStore::read_part() {
  std::ifstream journal(journal_, std::ios::binary);
  std::string line;
  if (!std::getline(journal, line) || journal.eof() || line != journal_head(key_)) return;
  std::error_code error;
  const auto size = static_cast<int64_t>(fs::file_size(part_, error));
  if (error) return;
  part_reader_ = std::make_unique<FloatFile>(part_, 0);
  journal_bytes_ = static_cast<int64_t>(line.size()) + 1;
  while (std::getline(journal, line) && !journal.eof() && read_line(line, size))
    journal_bytes_ += static_cast<int64_t>(line.size()) + 1;
}

// Takes the image of a line; false when it is damaged.
bool RowStore::read_line(const std::string& line, int64_t part_bytes) {
  std::istringstream cells(line);
  std::string hash_text, check;
  uint64_t hash = 0;
  int64_t cols = 0;
  Place place{part_reader_.get(), part_floats_, 0, 0, 0};
  cells >> hash_text >> place.count >> cols >> place.grid_rows >> place.grid_cols >> check;
  if (!parse_hex(hash_text, hash) || place.count < 0 || cols < 0) return false;
  const int64_t row_floats = cols + (files_.is_local() ? kFrameCols : 0);
  const int64_t floats_left = part_bytes / static_cast<int64_t>(sizeof(float)) - part_floats_;
  if (row_floats > 0 && place.count > floats_left / row_floats) return false;
  std::vector<float> floats(static_cast<size_t>(place.count * row_floats));
  part_reader_->read(part_floats_, std::ssize(floats), floats.data());
  if (line != line_of(hash, place.count, cols, place.grid_rows, place.grid_cols) + check ||
      check != check_of(line.substr(0, line.size() - check.size()), floats))
    return false;
  part_floats_ += std::ssize(floats);
  cols_ = cols;
  last_check_ = check;
  places_.emplace(hash, place);
  return true;
}

void RowStore::open_part() {
  const bool goes_on = journal_bytes_ > 0;
  part_file_ = std::fopen(part_.c_str(), goes_on ? "r+b" : "wb");
  if (!part_file_) fail_write(part_);
  journal_file_ = std::fopen(journal_.c_str(), goes_on ? "r+b" : "wb");
  if (!journal_file_) fail_write(journal_);
  cut_at(part_file_, part_floats_ * static_cast<int64_t>(sizeof(float)), part_);
  cut_at(journal_file_, journal_bytes_, journal_);
  if (!part_reader_) part_reader_ = std::make_unique<FloatFile>(part_, 0);
  if (!goes_on) pending_ = journal_head(key_) + "\n";
}

void RowStore::append(uint64_t hash, const LocalDescriptors& rows) {
  const Matrix<float>& values = rows.descriptors;
  if (cols_ > 0 && values.rows() > 0 && values.cols() != cols_)
    throw DataError(fmt::format("{}: an image has {}, earlier ones had {}", files_.values,
                                counted(values.cols(), "column"), cols_));
  if (cols_ <= 0) cols_ = values.cols();  // an image without descriptors may not know their length
  if (!part_file_) open_part();
  std::vector<float> floats(values.data(), values.data() + values.size());
  if (files_.is_local())
    floats.insert(floats.end(), rows.frames.data(), rows.frames.data() + rows.frames.size());
  write_all(part_file_, floats.data(), sizeof(float) * floats.size(), part_);
  if (std::fflush(part_file_) != 0) fail_write(part_);
  const std::string line = line_of(hash, values.rows(), cols_, rows.grid_rows, rows.grid_cols);
  last_check_ = check_of(line, floats);
  pending_ += line + last_check_ + "\n";
  if (since_flush_.seconds() >= kSecondsPerFlush) flush();
  const std::unique_lock lock(mutex_);
  places_.emplace(
      hash, Place{part_reader_.get(), part_floats_, values.rows(), rows.grid_rows, rows.grid_cols});
  part_floats_ += std::ssize(floats);
}

void RowStore::flush() {
  since_flush_ = Stopwatch();
  if (pending_.empty()) return;
  if (::fdatasync(::fileno(part_file_)) != 0) fail_write(part_);
  write_all(journal_file_, pending_.data(), pending_.size(), journal_);
  if (std::fflush(journal_file_) != 0 || ::fdatasync(::fileno(journal_file_)) != 0)
    fail_write(journal_);
  pending_.clear();
}

bool RowStore::has(uint64_t hash) const {
  const std::shared_lock lock(mutex_);
  return places_.count(hash) != 0;
}

bool RowStore::is_finished(const std::vector<uint64_t>& hashes) const {
  return finished_ == hashes && part_floats_ == 0;
}

RowStore::Place RowStore::place_of(uint64_t hash) const {
  const std::shared_lock lock(mutex_);
  return places_.at(hash);
}

void RowStore::read_rows(const Place& place, bool of_frames, float* out) const {
  const int64_t cols = of_frames ? kFrameCols : cols_;
  const int64_t count = place.count * cols;
  if (count <= 0) return;
  if (place.part != nullptr)
    place.part->read(place.begin + (of_frames ? place.count * cols_ : 0), count, out);
  else
    (of_frames ? frames_ : values_)->read(place.begin * cols, count, out);
}

LocalDescriptors RowStore::read(uint64_t hash) const {
  const Place place = place_of(hash);
  LocalDescriptors rows;
  rows.descriptors = Matrix<float>(place.count, std::max<int64_t>(cols_, 0));
  read_rows(place, false, rows.descriptors.data());
  rows.grid_rows = place.grid_rows;
  rows.grid_cols = place.grid_cols;
  if (!files_.is_local()) return rows;
  rows.frames = Matrix<float>(place.count, kFrameCols);
  read_rows(place, true, rows.frames.data());
  return rows;
}

void RowStore::write_values(const std::vector<uint64_t>& hashes) {
  int64_t total = 0;
  for (const uint64_t hash : hashes) total += places_.at(hash).count;
  for (const bool of_frames : {false, true}) {
    if (of_frames && !files_.is_local()) continue;
    const int64_t cols = of_frames ? kFrameCols : std::max<int64_t>(cols_, 0);
    AtomicFile file(fresh(of_frames ? files_.frames : files_.values));
    file.write(npy_float_header(std::array{total, cols}));
    std::vector<float> rows;
    for (const uint64_t hash : hashes) {
      const Place& place = places_.at(hash);
      rows.resize(static_cast<size_t>(place.count * cols));
      read_rows(place, of_frames, rows.data());
      file.write(rows.data(), sizeof(float) * rows.size());
    }
    file.commit();
  }
}

void RowStore::write_offsets(const std::vector<uint64_t>& hashes) {
  std::vector<int64_t> offsets = {0};
  Matrix<int32_t> grids(static_cast<int64_t>(hashes.size()), 2);
  for (size_t i = 0; i < hashes.size(); ++i) {
    const Place& place = places_.at(hashes[i]);
    offsets.push_back(offsets.back() + place.count);
    grids(static_cast<int64_t>(i), 0) = place.grid_rows;
    grids(static_cast<int64_t>(i), 1) = place.grid_cols;
  }
  write_npy(fresh(files_.offsets), std::span<const int64_t>(offsets));
  write_npy(fresh(files_.grids), std::as_const(grids).view());
}

void RowStore::assemble(const std::vector<uint64_t>& hashes) {
  write_values(hashes);
  if (files_.is_local()) write_offsets(hashes);
}

void RowStore::publish() {
  for (const std::string& path : files_.all())
    if (std::rename(fresh(path).c_str(), path.c_str()) != 0) fail_write(path);
  discard_part();
}

void RowStore::discard_part() {
  if (part_file_) std::fclose(std::exchange(part_file_, nullptr));
  if (journal_file_) std::fclose(std::exchange(journal_file_, nullptr));
  pending_.clear();
  std::error_code ignored;
  fs::remove(journal_, ignored);
  fs::remove(part_, ignored);
}

}  // namespace milieu::internal
