// SPDX-License-Identifier: Apache-2.0
// The numbers of one feature, found by the content of the image they belong to. Rows lie in the
// finished .npy files, or in a part file to which finished images are appended. A journal has one
// line per image with a checksum of its rows, written after the rows were flushed to disk: a crash
// or a power cut loses the last tenth of a second, and what it damaged is computed again.
// assemble() makes new .npy files of both, in the order of the images. Rows are read when they
// are asked for, so that memory does not grow with their number.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/feature/descriptor/local.h"

namespace milieu::internal {

// How long work may be lost to a power cut.
inline constexpr double kSecondsPerFlush = 0.1;

// The floats at the end of a file, read piece by piece from any thread.
class FloatFile {
 public:
  // All floats after the first `header_bytes`. Throws IoError.
  FloatFile(std::string path, int64_t header_bytes);
  ~FloatFile();
  FloatFile(const FloatFile&) = delete;
  FloatFile& operator=(const FloatFile&) = delete;

  // Floats [begin, begin + count) to `out`. Throws IoError when they are not there.
  void read(int64_t begin, int64_t count, float* out) const;

 private:
  std::string path_;
  int64_t header_bytes_ = 0;
  int fd_ = -1;
};

// Where the .npy files of a store are. Stores of whole features have only `values`.
struct StoreFiles {
  std::string values;
  std::string frames;   // rows of 4
  std::string offsets;  // int64: rows of image i are [offsets[i], offsets[i+1])
  std::string grids;    // int32, n x 2: rows and columns of the grid

  bool is_local() const { return !frames.empty(); }
  std::vector<std::string> all() const {
    return is_local() ? std::vector{values, frames, offsets, grids} : std::vector{values};
  }
};

class RowStore {
 public:
  // `part` is the path of the part file, without its endings. Rows in a part of another key are
  // discarded.
  RowStore(StoreFiles files, std::string part, std::string key);
  ~RowStore();
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  // Takes the finished files as those of images with these contents, in this order. Files that do
  // not fit are ignored.
  void take_finished(const std::vector<uint64_t>& hashes);
  // Takes what another process appended to its own part of the same key; that part stays as it is.
  // Called before anything is appended.
  void take_part(const std::string& part);
  // May be asked from any thread while another appends.
  bool has(uint64_t hash) const;
  // Whole features: one row, no frames. Throws IoError, and DataError when the number of columns
  // differs from the rows before.
  void append(uint64_t hash, const LocalDescriptors& rows);
  // All that was appended is on disk when it returns. Throws IoError.
  void flush();
  // The rows of an image that the store has. May be asked from any thread while another appends.
  LocalDescriptors read(uint64_t hash) const;
  // Floats that were appended, now or before a crash.
  int64_t num_appended() const { return part_floats_; }

  // The finished files are those of these images already.
  bool is_finished(const std::vector<uint64_t>& hashes) const;
  // Writes the files; all images must be there. The old ones stay until publish().
  void assemble(const std::vector<uint64_t>& hashes);
  // Puts the files of assemble() in their places and removes the part.
  void publish();
  // Removes the part with all that was appended.
  void discard_part();

  int64_t cols() const { return cols_; }

 private:
  struct Place {
    const FloatFile* part = nullptr;  // null: in the finished files
    int64_t begin = 0;                // row in the finished files, or float in the part
    int64_t count = 0;                // rows
    int grid_rows = 0, grid_cols = 0;
  };

  void read_part();
  bool read_line(const std::string& line, int64_t part_bytes);
  std::string check_of(std::string_view line, const std::vector<float>& floats) const;
  void open_part();
  void write_values(const std::vector<uint64_t>& hashes);
  void write_offsets(const std::vector<uint64_t>& hashes);
  Place place_of(uint64_t hash) const;
  void read_rows(const Place& place, bool of_frames, float* out) const;

  StoreFiles files_;
  std::string part_, journal_, key_;
  int64_t cols_ = -1;                           // unknown
  mutable std::shared_mutex mutex_;             // of places_
  std::unordered_map<uint64_t, Place> places_;  // its order reaches no result
  std::vector<std::unique_ptr<FloatFile>> taken_parts_;
  std::vector<uint64_t> finished_;              // order of the finished files
  std::unique_ptr<FloatFile> values_, frames_;  // of the finished files
  std::FILE* part_file_ = nullptr;
  std::FILE* journal_file_ = nullptr;
  std::unique_ptr<FloatFile> part_reader_;  // null until the part has something
  int64_t part_floats_ = 0;                 // complete ones
  int64_t journal_bytes_ = 0;               // complete lines
  std::string last_check_;                  // of the journal's last line
  std::string pending_;                     // lines whose rows may not be on disk yet
  Stopwatch since_flush_;
};

}  // namespace milieu::internal
