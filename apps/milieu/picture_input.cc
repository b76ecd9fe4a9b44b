// SPDX-License-Identifier: Apache-2.0
#include "picture_input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "image_predict.h"
#include "milieu/base/error.h"
#include "milieu/data/image_folder.h"
#include "milieu/data/mapped_file.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/store/model_file.h"
#include "milieu/store/run_folder.h"

namespace milieu::cli {

namespace fs = std::filesystem;

namespace {

Matrix<float> codebook_of_model(const std::string& path) {
  const ModelFile model = read_model_file(path);
  if (model.kind == DlgmmModel::kKind) return codebook_of_images(model, path);
  std::vector<std::string> names;
  for (const char* name : {"codebook", "words", "centers", "means"})
    for (const auto& [key, array] : model.arrays) {
      if (key != name || array.shape.size() != 2) continue;
      Matrix<float> words(array.shape[0], array.shape[1]);
      for (int64_t i = 0; i < words.size(); ++i) {
        double wide = 0;
        if (array.dtype == "F64") std::memcpy(&wide, array.bytes.data() + 8 * i, 8);
        if (array.dtype == "F32") std::memcpy(words.data() + i, array.bytes.data() + 4 * i, 4);
        if (array.dtype == "F64") words.data()[i] = static_cast<float>(wide);
      }
      return words;
    }
  for (const auto& [key, array] : model.arrays) names.push_back(key);
  throw DataError(
      fmt::format("{} is a model of {} without words or centres (it has {}): name "
                  "another codebook",
                  path, model.kind, fmt::join(names, ", ")));
}

std::string codebook_in_folder(const std::string& path) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    if (entry.path().string().ends_with(".codebook.npy")) found.push_back(entry.path().string());
  if (found.size() != 1)
    throw InvalidArgument(
        fmt::format("{} has {} codebooks, must have one: name the file "
                    "NAME.codebook.npy",
                    path, found.size()));
  return found[0];
}

// One features folder of the cache for each folder of pictures, feature and parameters: other
// parameters never push them out.
std::string cache_place(const std::string& root, const std::string& spec, int max_side,
                        const std::string& vocabulary_folder) {
  std::error_code error;
  const fs::path canonical = fs::canonical(root, error);
  uint64_t hash = 14695981039346656037u;
  const auto mix = [&](const std::string& text) {
    for (const unsigned char c : text + "\n") hash = (hash ^ c) * 1099511628211u;
  };
  mix(canonical.string());
  mix(spec);
  mix(std::to_string(max_side));
  if (!vocabulary_folder.empty()) mix(fs::canonical(vocabulary_folder, error).string());
  return fmt::format("{}/{}-{:016x}", cache_folder(), canonical.filename().string(), hash);
}

void join_columns(Points& all, const Points& more) {
  if (all.rows() == 0) {
    all = more;
    return;
  }
  Matrix<float> joined(all.rows(), all.cols() + more.cols());
  for (int64_t i = 0; i < all.rows(); ++i) {
    std::copy_n(all.view().row(i), all.cols(), joined.row(i));
    std::copy_n(more.view().row(i), more.cols(), joined.row(i) + all.cols());
  }
  all = Points(std::move(joined));
}

void require_feature(const std::string& path, const PictureOptions& pictures) {
  if (pictures.feature.empty())
    throw InvalidArgument(
        fmt::format("{} is a folder of pictures: name what is computed from them, such as "
                    "--feature gist (milieu help features tells what there is)",
                    path));
}

// What a folder of features has of the list asked for; all of it when nothing was asked for.
std::vector<std::string> chosen_ids(const FeatureFolder& folder, const std::string& list) {
  if (list.empty()) {
    if (folder.features.size() == 1) return {folder.features[0].id};
    std::vector<std::string> ids;
    for (const auto& entry : folder.features) ids.push_back(entry.id);
    throw InvalidArgument(fmt::format("{} has the features {}: choose by --feature", folder.path,
                                      fmt::join(ids, ", ")));
  }
  std::vector<std::string> ids;
  for (FeatureSpec& spec : parse_features(list)) {
    const FeatureFolder::Entry& entry = folder.find(spec.id);
    const std::string asked = to_text(spec);
    const bool is_plain = asked == spec.entry->name || asked == spec.entry->name + ":" + spec.file;
    if (!is_plain && asked != entry.spec)
      throw InvalidArgument(
          fmt::format("{} has {}, not {}: run milieu features again, or ask for {}", folder.path,
                      entry.spec, asked, spec.id));
    ids.push_back(spec.id);
  }
  return ids;
}

void add_feature(const FeatureFolder& folder, const std::string& id, Points& points,
                 PictureInput& input) {
  const int64_t first = points.cols();
  join_columns(points, folder.points(id));
  input.columns.push_back({id, first, points.cols() - first});
  for (const std::string& name : vocabulary_files(folder.path, id))
    input.vocabulary.emplace_back(name, folder.path + "/" + name);
  input.feature += (input.feature.empty() ? "" : ",") + folder.find(id).spec;
}

PictureInput from_feature_folder(const std::string& path, const PictureOptions& pictures,
                                 const LoadOptions& options) {
  const FeatureFolder folder = open_feature_folder(path);
  PictureInput input;
  input.root = folder.found_source();
  if (folder.max_side != DecodeOptions().max_side) input.max_side = std::to_string(folder.max_side);
  Points points;
  for (const std::string& id : chosen_ids(folder, pictures.feature))
    add_feature(folder, id, points, input);
  input.data = make_dataset(std::move(points), folder.labels, folder.images, path, options);
  return input;
}

// The features of a folder of pictures, one a folder of the cache.
class CachedFeatures {
 public:
  CachedFeatures(const std::string& path, const PictureOptions& pictures, int num_threads,
                 ProgressMonitor& monitor, Session& session)
      : path_(path),
        vocabulary_folder_(pictures.vocabulary_folder),
        images_(list_pictures(path)),
        monitor_(monitor),
        session_(session) {
    extract_.decode.max_side = parse_max_side(pictures.max_side);
    extract_.num_threads = num_threads;
    extract_.vocabulary_folder = pictures.vocabulary_folder;
    extract_.read_codebook = read_codebook;
    extract_.waits = true;  // another command on the same pictures may be filling the cache
  }

  FeatureFolder compute(FeatureSpec spec) {
    const Interrupt::Resumable resumable(session_.interrupt);
    const std::string place =
        cache_place(path_, to_text(spec), extract_.decode.max_side, vocabulary_folder_);
    std::vector<FeatureSpec> one;
    one.push_back(std::move(spec));
    const ExtractResult result =
        extract_features(images_, std::move(one), place, extract_, monitor_);
    monitor_.clear();
    if (warnings_.empty()) {
      const std::string skipped = report_skipped(images_, result, session_.console);
      if (!skipped.empty()) warnings_.push_back(skipped);
    }
    warnings_.insert(warnings_.end(), result.warnings.begin(), result.warnings.end());
    return open_feature_folder(place);
  }

  const std::vector<std::string>& warnings() const { return warnings_; }
  const std::string& root() const { return images_.root; }

 private:
  std::string path_, vocabulary_folder_;
  ImageFolder images_;
  ExtractOptions extract_;
  ProgressMonitor& monitor_;
  Session& session_;
  std::vector<std::string> warnings_;
};

PictureInput from_pictures(const std::string& path, const PictureOptions& pictures,
                           const LoadOptions& options, ProgressMonitor& monitor, Session& session) {
  require_feature(path, pictures);
  std::vector<FeatureSpec> specs = parse_feature_list(pictures.feature, pictures.codebook);
  CachedFeatures cached(path, pictures, options.num_threads, monitor, session);
  PictureInput input;
  input.root = cached.root();
  Points points;
  FeatureFolder folder;
  for (FeatureSpec& spec : specs) {
    const std::string id = spec.id;
    folder = cached.compute(std::move(spec));
    add_feature(folder, id, points, input);
  }
  input.warnings = cached.warnings();
  input.data = make_dataset(std::move(points), folder.labels, folder.images, path, options);
  return input;
}

}  // namespace

std::string cache_folder() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  if (const std::string folder = variable("MILIEU_CACHE"); !folder.empty()) return folder;
  if (const std::string folder = variable("XDG_CACHE_HOME"); !folder.empty())
    return folder + "/milieu";
  const std::string home = variable("HOME");
  if (home.empty())
    throw InvalidArgument(
        "HOME is not set, so there is no place for the cache: set MILIEU_CACHE, or "
        "use milieu features");
  return home + "/.cache/milieu";
}

ImageFolder list_pictures(const std::string& path) {
  std::error_code error;
  return path.ends_with(".txt") && !fs::is_directory(path, error) ? list_images_in(path)
                                                                  : list_image_folder(path);
}

Matrix<float> read_codebook(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (is_feature_folder(path)) return read_codebook(codebook_in_folder(path));
    return codebook_of_model(resolve_model_path(path));
  }
  if (path.ends_with(".safetensors")) return codebook_of_model(path);
  return Matrix<float>(load_dataset(path).points.view());
}

std::vector<FeatureSpec> parse_feature_list(const std::string& list, const std::string& codebook) {
  std::vector<FeatureSpec> specs = parse_features(list);
  bool is_used = codebook.empty();
  for (FeatureSpec& spec : specs) {
    if (!spec.is_local() || !spec.words.codebook.empty()) continue;
    spec.words.codebook = codebook;
    is_used = true;
  }
  if (!is_used)
    throw InvalidArgument(
        fmt::format("codebook is {}, but no feature of '{}' is made of words", codebook, list));
  return specs;
}

std::string counting_features(const std::string& list) {
  if (list.find(":norm=") != std::string::npos) return list;
  std::vector<std::string> texts;
  for (FeatureSpec& spec : parse_features(list)) {
    if (spec.is_local()) spec.words.norm = WordNorm::None;
    texts.push_back(to_text(spec));
  }
  return fmt::format("{}", fmt::join(texts, ","));
}

MakePicture picture_maker(const std::string& root, const std::vector<std::string>& names) {
  return [root, &names](int64_t row, int max_side) {
    RasterImage picture;
    try {
      const std::string& name = names.at(static_cast<size_t>(row));
      const Image image = load_image(root + "/" + name, {.max_side = max_side});
      picture = RasterImage(image.width, image.height, 3);
      picture.pixels = image.rgb;
    } catch (const Error&) {
      // the report is worth more than this picture
    }
    return picture;
  };
}

int parse_max_side(const std::string& text) {
  DecodeOptions decode;
  for (const Field& field : fields_of(decode))
    if (field.name == "max_side" && !text.empty()) {
      field.set_from_text(text);
      field.validate();
    }
  return decode.max_side;
}

std::string skipped_text(const ImageFolder& images, const ExtractResult& result) {
  if (result.skipped.empty()) return "";
  return fmt::format("{} of {} pictures could not be read and were skipped, the first: {}",
                     result.skipped.size(), images.paths.size(), result.skipped.front().reason);
}

std::string report_skipped(const ImageFolder& images, const ExtractResult& result,
                           Console& console) {
  for (const ImageFolder::Skipped& skipped : result.skipped)
    console.note(fmt::format("{} skipped {}: {}", console.paint_err(Style::Yellow, "warning:"),
                             skipped.path, skipped.reason));
  return skipped_text(images, result);
}

bool is_feature_input(const std::string& path) {
  std::error_code error;
  return is_feature_folder(path) || fs::is_directory(path + "/.milieu", error);
}

PictureInput load_input(const std::string& path, const PictureOptions& pictures,
                        const LoadOptions& options, ProgressMonitor& monitor, Session& session) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (is_feature_input(path)) return from_feature_folder(path, pictures, options);
    return from_pictures(path, pictures, options, monitor, session);
  }
  if (!pictures.feature.empty() && path.ends_with(".txt"))
    return from_pictures(path, pictures, options, monitor, session);
  if (!pictures.feature.empty())
    throw InvalidArgument(
        fmt::format("feature is {}, but {} is no folder of pictures", pictures.feature, path));
  PictureInput input;
  input.data = load_dataset(path, options);
  return input;
}

}  // namespace milieu::cli
