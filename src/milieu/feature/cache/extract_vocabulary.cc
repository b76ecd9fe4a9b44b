// SPDX-License-Identifier: Apache-2.0
// Where the words of a local feature come from. A learned vocabulary belongs to the contents of the
// images in its sample: the images whose path has the smallest hash, so that a new image
// seldom changes it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/base/random.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/dataset.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/feature/cache/extract_internal.h"
#include "milieu/feature/cache/in_order_internal.h"

namespace milieu::internal {
namespace {

constexpr size_t kMostSampleImages = 400;
// Of one feature: descriptors of sample images that wait on disk for the main pass.
constexpr int64_t kMostSampleFloats = int64_t{1} << 28;

// An image of the sample.
struct SampleImage {
  const ImageItem* item = nullptr;
  uint64_t hash = 0;  // of the content; 0: unreadable
};

uint64_t content_hash(const ImageItem& item, const std::string& root) {
  if (item.known) return item.known->hash;
  try {
    return hash_bytes(read_image_file(root + "/" + item.path));
  } catch (const Error&) {
    return 0;  // the main pass names it
  }
}

std::vector<SampleImage> sample_images(const std::vector<ImageItem>& items, const std::string& root,
                                       uint64_t seed) {
  std::vector<const ImageItem*> sample;
  for (const ImageItem& item : items) sample.push_back(&item);
  const uint64_t start = hash_text(std::to_string(seed));
  const auto rank = [&](const ImageItem* item) { return hash_text(item->path, start); };
  if (sample.size() > kMostSampleImages) {
    std::sort(sample.begin(), sample.end(),
              [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
    sample.resize(kMostSampleImages);
    std::sort(sample.begin(), sample.end());  // back to the order of the listing
  }
  std::vector<SampleImage> images;
  for (const ImageItem* item : sample) images.push_back({item, content_hash(*item, root)});
  return images;
}

// At most `count` rows of the image's descriptors, drawn at random, in their order.
Matrix<float> draw_rows(const Matrix<float>& descriptors, int64_t count, Random random) {
  std::vector<int64_t> rows =
      random.sample_without_replacement(descriptors.rows(), std::min(count, descriptors.rows()));
  std::sort(rows.begin(), rows.end());
  Matrix<float> drawn(static_cast<int64_t>(rows.size()), descriptors.cols());
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy_n(descriptors.row(rows[i]), descriptors.cols(), drawn.row(static_cast<int64_t>(i)));
  return drawn;
}

Matrix<float> stack(const std::vector<Matrix<float>>& parts) {
  int64_t rows = 0, cols = 0;
  for (const Matrix<float>& part : parts) rows += part.rows();
  for (const Matrix<float>& part : parts) cols = std::max(cols, part.cols());
  Matrix<float> all(rows, cols);
  int64_t at = 0;
  for (const Matrix<float>& part : parts)
    for (int64_t i = 0; i < part.rows(); ++i) std::copy_n(part.row(i), cols, all.row(at++));
  return all;
}

// What an image of the sample gives: rows for the codebook, and all of them where they are new.
struct SampleRows {
  Matrix<float> drawn;
  std::optional<LocalDescriptors> computed;
};

SampleRows describe_sample(const FeatureTask& task, const SampleImage& sampled,
                           const std::string& root, const DecodeOptions& decode, int64_t quota,
                           const Random& random) {
  if (task.sample->has(sampled.hash))
    return {draw_rows(task.sample->read(sampled.hash).descriptors, quota, random), {}};
  try {
    const Image image = load_image(root + "/" + sampled.item->path, decode);
    SampleRows rows;
    rows.computed = task.spec.feature->local({image, sampled.item->path});
    rows.drawn = draw_rows(rows.computed->descriptors, quota, random);
    return rows;
  } catch (const Error&) {
    return {};  // the main pass names it
  }
}

void keep_sample(FeatureTask& task, const SampleImage& image, const SampleRows& rows) {
  if (!rows.computed || image.hash == 0 || task.sample->has(image.hash)) return;
  const int64_t floats = rows.computed->descriptors.size() + rows.computed->frames.size();
  if (task.sample->num_appended() + floats <= kMostSampleFloats)
    task.sample->append(image.hash, *rows.computed);
}

// False when stopped.
bool learn(FeatureTask& task, const std::vector<SampleImage>& sample, const std::string& root,
           const ExtractOptions& options, Monitor& monitor) {
  task.spec.feature->open(monitor);
  const auto n = static_cast<int64_t>(sample.size());
  const WordOptions& words = task.spec.words;
  const int64_t quota = std::max<int64_t>(1, (words.num_samples + n - 1) / n);
  std::vector<Matrix<float>> parts;
  const std::string stage = "images for the words of " + task.spec.id;
  for_each_in_order(
      n, options.num_threads, monitor,
      [&](int64_t i) {
        return describe_sample(task, sample[i], root, options.decode, quota,
                               Random(words.seed).child(static_cast<uint64_t>(i)));
      },
      [&](int64_t i, SampleRows rows) {
        keep_sample(task, sample[i], rows);
        parts.push_back(std::move(rows.drawn));
        monitor.on_progress(stage, i + 1, n);
      });
  if (monitor.should_stop()) return false;
  task.vocabulary = learn_vocabulary(stack(parts), words, options.num_threads, monitor);
  return !monitor.should_stop();
}

// What is beside a kept vocabulary: the key it was learned under, and the fingerprint of what was
// learned.
std::string kept_line(const std::string& key, const Vocabulary& vocabulary) {
  return fmt::format("{} {}", key, hex(hash_of(vocabulary)));
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The vocabulary of an earlier run with the same key; false when there is none, or it is damaged:
// then it is learned again.
bool take_kept(FeatureTask& task, const std::string& out, const std::string& key) {
  const std::string line = first_line(hidden(out, task.spec.id + ".vocabulary"));
  if (!line.starts_with(key)) return false;
  try {
    Vocabulary kept = read_vocabulary(hidden(out, ""), task.spec.id);
    if (line != kept_line(key, kept)) return false;
    task.vocabulary = std::move(kept);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void keep_vocabulary(const FeatureTask& task, const std::string& out, const std::string& key) {
  const std::string path = hidden(out, task.spec.id + ".vocabulary");
  std::filesystem::remove(path);
  write_vocabulary(hidden(out, ""), task.spec.id, task.vocabulary);
  write_file_atomically(path, kept_line(key, task.vocabulary) + "\n");
}

// True when the options name a vocabulary.
bool take_given(FeatureTask& task, const ExtractOptions& options) {
  const WordOptions& words = task.spec.words;
  const std::string& folder = options.vocabulary_folder;
  if (!folder.empty()) {
    if (!has_vocabulary(folder, task.spec.id))
      throw InvalidArgument(fmt::format("{} has no vocabulary of {} ({}.codebook.npy)", folder,
                                        task.spec.id, task.spec.id));
    task.vocabulary = read_vocabulary(folder, task.spec.id);
  } else if (!words.codebook.empty()) {
    require(words.pca == 0,
            "give only one of pca and codebook: a given codebook is applied to descriptors that "
            "are not reduced");
    task.vocabulary.words.centers = options.read_codebook
                                        ? options.read_codebook(words.codebook)
                                        : Matrix<float>(load_dataset(words.codebook).points.view());
  } else {
    return false;
  }
  const std::string idf = folder + "/" + task.spec.id + ".idf.npy";
  if (words.weight == WordWeight::TfIdf && !folder.empty() && std::filesystem::exists(idf)) {
    const RawArray raw = open_npy(idf);
    for (int64_t i = 0; i < raw.rows(); ++i) task.idf.push_back(element_at(raw, i, 0));
    if (static_cast<int64_t>(task.idf.size()) != task.vocabulary.size())
      throw DataError(fmt::format("{} has {}, the codebook {}: they must match", idf,
                                  counted(task.idf.size(), "number"),
                                  counted(task.vocabulary.size(), "word")));
  }
  return true;
}

}  // namespace

bool find_vocabulary(FeatureTask& task, const std::vector<ImageItem>& items,
                     const std::string& root, const std::string& out, const ExtractOptions& options,
                     Monitor& monitor, std::vector<std::string>& warnings) {
  if (take_given(task, options)) return true;
  const WordOptions& words = task.spec.words;
  const std::vector<SampleImage> sample = sample_images(items, root, words.seed);
  const std::string descriptors = descriptor_key(task, options.decode);
  Fingerprint key("learned-words");
  key.text(descriptors).number(words.num_words).number(words.pca).number(words.num_samples);
  key.number(static_cast<int64_t>(words.seed));
  for (const SampleImage& image : sample) key.number(static_cast<int64_t>(image.hash));
  task.sample = std::make_unique<RowStore>(patch_files(out, task.spec.id),
                                           hidden(out, task.spec.id + ".sample"), descriptors);
  if (!take_kept(task, out, key.hex())) {
    if (!learn(task, sample, root, options, monitor)) return false;
    keep_vocabulary(task, out, key.hex());
  }
  if (task.vocabulary.size() < words.num_words)
    warnings.push_back(
        fmt::format("{}: only {}, so the codebook has {} instead "
                    "of {}",
                    task.spec.id, counted(task.vocabulary.size(), "descriptor"),
                    counted(task.vocabulary.size(), "word"), words.num_words));
  return true;
}

}  // namespace milieu::internal
