// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/file_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "milieu/base/error.h"
#include "milieu/data/format/gzip.h"
#include "milieu/data/format/idx.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/image_folder.h"

namespace milieu {
namespace {

struct Hint {
  std::string_view extension;
  std::string_view hint;
};
constexpr std::array<Hint, 8> kHints = {{
    {".npz", "a zip of arrays; save one of them with numpy.save"},
    {".mat", "a MATLAB file; save the matrix as .npy or .csv"},
    {".h5", "an HDF5 file; save the matrix as .npy"},
    {".hdf5", "an HDF5 file; save the matrix as .npy"},
    {".parquet", "a Parquet file; save the table as .csv or .npy"},
    {".pkl", "a Python pickle; save the matrix with numpy.save"},
    {".xlsx", "a spreadsheet; save the table as .csv"},
    {".safetensors", "a model file, not data"},
}};

[[noreturn]] void refuse(const std::string& path, std::string_view what) {
  throw DataError(
      fmt::format("{} is {} (Milieu reads .npy, .csv, .tsv and idx files)", path, what));
}

void refuse_known_strangers(const std::string& path, const std::string& extension) {
  for (const Hint& hint : kHints)
    if (extension == hint.extension) refuse(path, hint.hint);
  if (has_image_extension(path))
    refuse(path, "an image; put images into a folder and turn them into features");
  if (extension == ".gz" &&
      (path.ends_with(".csv.gz") || path.ends_with(".tsv.gz") || path.ends_with(".npy.gz")))
    refuse(path, "compressed; unpack it with gunzip first");
}

// Text has no zero bytes; line ends and tabs are its only control characters of note.
bool looks_like_text(std::span<const std::byte> bytes) {
  const auto head = bytes.first(std::min<size_t>(bytes.size(), 4096));
  return std::find(head.begin(), head.end(), std::byte{0}) == head.end();
}

}  // namespace

FileKind file_kind(const std::string& path, std::span<const std::byte> bytes) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".npy") return FileKind::Npy;
  if (extension == ".csv" || extension == ".tsv" || extension == ".txt") return FileKind::Text;
  refuse_known_strangers(path, extension);
  if (bytes.empty()) throw DataError(fmt::format("{} is empty (0 bytes)", path));
  if (looks_like_npy(bytes)) return FileKind::Npy;
  if (looks_like_idx(bytes) || looks_like_gzip(bytes)) return FileKind::Idx;
  if (looks_like_text(bytes)) return FileKind::Text;
  refuse(path, "of an unknown kind");
}

}  // namespace milieu
