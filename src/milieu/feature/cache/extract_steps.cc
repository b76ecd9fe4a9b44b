// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <map>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/feature/cache/extract_internal.h"
#include "milieu/feature/opencv_internal.h"

namespace milieu::internal {
namespace {

// A feature must give finite numbers; what follows relies on it.
void check_finite(const Matrix<float>& values, const FeatureTask& task) {
  for (int64_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values.data()[i]))
      throw DataError(fmt::format("feature {} is not finite", task.spec.id));
}

std::unique_ptr<LocalDescriptors> one_row(const std::vector<float>& values) {
  auto rows = std::make_unique<LocalDescriptors>();
  rows->descriptors = Matrix<float>(1, static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), rows->descriptors.data());
  return rows;
}

// The descriptors as the vocabulary was learned from them, or computed.
LocalDescriptors local_descriptors(const FeatureTask& task, const SourceImage& source,
                                   uint64_t hash) {
  if (task.sample && task.sample->has(hash)) return task.sample->read(hash);
  return task.spec.feature->local(source);
}

void describe(const FeatureTask& task, const SourceImage& source, uint64_t hash,
              ImageResult::Rows& out) {
  const bool wants_rows = !task.rows->has(hash);
  const bool wants_patches = task.patches && !task.patches->has(hash);
  if (!task.spec.is_local()) {
    if (wants_rows) out.rows = one_row(task.spec.feature->whole(source));
  } else if (wants_rows || wants_patches) {
    auto local = std::make_unique<LocalDescriptors>(local_descriptors(task, source, hash));
    check_finite(local->descriptors, task);
    local->descriptors = reduce(task.vocabulary, std::move(local->descriptors));
    if (wants_rows)
      out.rows = one_row(count_words(task.vocabulary, local->descriptors, local->frames,
                                     source.image.width, source.image.height,
                                     task.spec.words.pyramid_levels));
    if (wants_patches) out.patches = std::move(local);
  }
  if (out.rows) check_finite(out.rows->descriptors, task);
}

bool lacks_image(const std::vector<FeatureTask>& tasks, uint64_t hash) {
  for (const FeatureTask& task : tasks)
    if (!task.rows->has(hash) || (task.patches && !task.patches->has(hash))) return true;
  return false;
}

}  // namespace

// One image at the sizes that features ask for, each decoded once.
class DecodedImage {
 public:
  DecodedImage(std::span<const uint8_t> file, const std::string& path, const DecodeOptions& options)
      : file_(file), path_(path), options_(options) {}

  const ScaledImage& at_least(int side) {
    const auto known = images_.find(side);
    if (known != images_.end()) return known->second;
    return images_.emplace(side, decode_scaled(file_, path_, options_, {side})).first->second;
  }

 private:
  std::span<const uint8_t> file_;
  const std::string& path_;
  const DecodeOptions& options_;
  std::map<int, ScaledImage> images_;
};

std::string descriptor_key(FeatureTask& task, const DecodeOptions& decode) {
  return Fingerprint("descriptors of scaled images")
      .text(task.spec.entry->name)
      .number(task.spec.entry->version)
      .text(task.spec.feature->fingerprint())
      .number(decode.max_side)
      .options(task.spec.feature->fields())
      .hex();
}

std::string rows_key(FeatureTask& task, const DecodeOptions& decode) {
  const std::string descriptors = descriptor_key(task, decode);
  if (!task.spec.is_local()) return descriptors;
  return Fingerprint("words")
      .text(descriptors)
      .number(static_cast<int64_t>(hash_of(task.vocabulary)))
      .number(task.spec.words.pyramid_levels)
      .values(std::span<const double>(task.idf))
      .hex();
}

ImageResult process_image(const ImageItem& item, const std::string& root,
                          const std::vector<FeatureTask>& tasks, const DecodeOptions& decode) {
  ImageResult result;
  result.features.resize(tasks.size());
  result.state.stamp = item.now;
  const std::string path = root + "/" + item.path;
  std::vector<uint8_t> file;
  try {
    file = read_image_file(path);
  } catch (const Error& error) {
    result.error = error.what();
    return result;
  }
  FileState& state = result.state;
  state.hash = hash_bytes(file);
  const bool is_same = item.earlier && item.earlier->hash == state.hash;
  if (is_same && item.earlier->error.empty() && !lacks_image(tasks, state.hash)) {  // touched
    state = *item.earlier;
    state.stamp = item.now;
    return result;
  }
  result.was_decoded = true;
  DecodedImage decoded(file, item.path, decode);
  try {
    const ScaledImage& first = decoded.at_least(tasks.front().spec.feature->least_side());
    state.width = first.full_width;
    state.height = first.full_height;
  } catch (const DataError& error) {
    state.error = error.what();
    return result;
  }
  try {
    for (size_t t = 0; t < tasks.size(); ++t) {
      const Image& image = decoded.at_least(tasks[t].spec.feature->least_side()).image;
      describe(tasks[t], {image, item.path}, state.hash, result.features[t]);
    }
  } catch (const DataError& error) {
    result.error = error.what();
  } catch (const cv::Exception& error) {
    result.error = fmt::format("{} cannot be described: {}", item.path, error.err);
  }
  return result;
}

void write_words(const FeatureTask& task, const std::string& out) {
  const Points counts = to_points(open_npy(count_files(out, task.spec.id).values));
  const FloatView view = counts.view();
  const std::string stem = out + "/" + task.spec.id;
  std::vector<double> idf = task.idf;
  if (task.spec.words.weight == WordWeight::TfIdf && idf.empty())
    idf = inverse_document_frequencies(view, task.vocabulary.size());
  write_vocabulary(out, task.spec.id, task.vocabulary);
  if (!idf.empty())
    write_npy(stem + ".idf.npy", std::span<const double>(idf));
  else
    std::filesystem::remove(stem + ".idf.npy");
  AtomicFile file(stem + ".npy");
  file.write(npy_float_header(std::array{view.rows(), view.cols()}));
  std::vector<float> row(view.cols());
  for (int64_t i = 0; i < view.rows(); ++i) {
    std::copy_n(view.row(i), view.cols(), row.begin());
    finish_words(row, idf, task.spec.words);
    file.write(row.data(), sizeof(float) * row.size());
  }
  file.commit();
}

}  // namespace milieu::internal
