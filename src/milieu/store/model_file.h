// SPDX-License-Identifier: Apache-2.0
// Models on disk: safetensors layout (8-byte header length, JSON header, raw arrays), with kind,
// format version, Milieu's version, options and a checksum in the header's __metadata__. See
// docs/format.md. Files are read without trust: every size is checked before memory is touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// One array as stored in the file: little-endian, row-major.
struct StoredArray {
  std::string dtype;  // safetensors' name: F32 F64 I32 I64 U8
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;  // as many as dtype and shape ask for
};

// A model file in memory, kind still unknown to the type system.
struct ModelFile {
  std::string kind;            // "kmeans"
  int format_version = 1;      // of this kind
  std::string milieu_version;  // that wrote the file; filled in when writing
  std::string options_json;    // options the model was fitted with; may be empty
  std::vector<std::pair<std::string, StoredArray>> arrays;   // in file order
  std::vector<std::pair<std::string, std::string>> scalars;  // name and text: "0.5", "full"
};

// Atomic. Arrays are written by falling element size, so that each lies aligned in a mapped file;
// otherwise in the order given. Throws IoError, and InvalidArgument for a kind that is empty, names
// that repeat and bytes that do not fit the shape.
void write_model_file(const std::string& path, const ModelFile& file);
// The bytes that write_model_file writes.
std::string model_file_bytes(const ModelFile& file);

// Throws IoError or DataError; each check has its own message.
ModelFile read_model_file(const std::string& path);
// The same from memory; `source` names it in messages.
ModelFile parse_model_file(std::span<const std::byte> bytes, const std::string& source);

namespace internal {

class ArrayWriter {
 public:
  explicit ArrayWriter(ModelFile& file) : file_(file) {}
  void operator()(const char* name, const Matrix<float>& value);
  void operator()(const char* name, const Matrix<double>& value);
  void operator()(const char* name, const std::vector<float>& value);
  void operator()(const char* name, const std::vector<double>& value);
  void operator()(const char* name, const std::vector<int>& value);
  void operator()(const char* name, const std::vector<int64_t>& value);
  void operator()(const char* name, const std::vector<uint8_t>& value);
  void operator()(const char* name, const int& value);
  void operator()(const char* name, const int64_t& value);
  void operator()(const char* name, const double& value);
  void operator()(const char* name, const std::string& value);

 private:
  ModelFile& file_;
};

// The same overloads; throws DataError when a name is missing, has another dtype or rank, or does
// not fit into the type asked for.
class ArrayReader {
 public:
  ArrayReader(const ModelFile& file, std::string source)
      : file_(file), source_(std::move(source)) {}
  bool has(std::string_view name) const;  // an array or scalar of that name
  void operator()(const char* name, Matrix<float>& value);
  void operator()(const char* name, Matrix<double>& value);
  void operator()(const char* name, std::vector<float>& value);
  void operator()(const char* name, std::vector<double>& value);
  void operator()(const char* name, std::vector<int>& value);
  void operator()(const char* name, std::vector<int64_t>& value);
  void operator()(const char* name, std::vector<uint8_t>& value);
  void operator()(const char* name, int& value);
  void operator()(const char* name, int64_t& value);
  void operator()(const char* name, double& value);
  void operator()(const char* name, std::string& value);

 private:
  const ModelFile& file_;
  std::string source_;
};

// Throws DataError when the file's kind differs or its format version is newer than ours.
void check_model_kind(const ModelFile& file, std::string_view kind, int newest_version,
                      const std::string& source);

}  // namespace internal

// Any struct with kKind, kFormatVersion and visit_arrays (milieu/base/model_visitor.h) is a model.
template <class Model>
ModelFile to_model_file(const Model& model, std::string options_json = {}) {
  ModelFile file;
  file.kind = Model::kKind;
  file.format_version = Model::kFormatVersion;
  file.options_json = std::move(options_json);
  visit_arrays(model, internal::ArrayWriter(file));
  return file;
}

template <class Model>
Model from_model_file(const ModelFile& file, const std::string& source) {
  internal::check_model_kind(file, Model::kKind, Model::kFormatVersion, source);
  Model model;
  visit_arrays(model, internal::ArrayReader(file, source));
  return model;
}

template <class Model>
void save_model(const std::string& path, const Model& model, std::string options_json = {}) {
  write_model_file(path, to_model_file(model, std::move(options_json)));
}

template <class Model>
Model load_model(const std::string& path) {
  return from_model_file<Model>(read_model_file(path), path);
}

}  // namespace milieu
