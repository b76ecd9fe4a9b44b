// SPDX-License-Identifier: Apache-2.0
// The extension module `milieu._images`: what needs images, run folders or reports. Loaded on first
// use, because it brings OpenCV's libraries.
#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "arrays.h"
#include "errors.h"
#include "milieu/base/error.h"
#include "milieu/base/job/shard.h"
#include "milieu/base/parallel.h"
#include "milieu/data/image_folder.h"
#include "milieu/feature/cache/extract.h"
#include "milieu/feature/feature_spec.h"
#include "milieu/input/codebook.h"
#include "milieu/input/image_rows.h"
#include "milieu/report/run_page.h"
#include "milieu/report/write_run.h"
#include "run_outcome.h"
#include "work.h"

namespace milieu::python {

namespace {

py::dict to_python(const InputRows& input, const Dataset& data) {
  py::list columns;
  for (const ColumnRange& range : input.images.columns)
    columns.append(py::make_tuple(range.name, range.first, range.count));
  py::dict out;
  out["X"] = to_array(Matrix<float>(data.points.view()));
  out["names"] = data.sample_names;
  out["classes"] = to_array(std::vector<int>(data.labels.indices));
  out["class_names"] = data.labels.names;
  out["columns"] = columns;
  out["feature"] = input.images.feature;
  out["warnings"] = input.warnings;
  return out;
}

// Features of a folder, a list of images (.txt) or a feature folder, through the cache.
py::dict describe_folder(const std::string& path, const std::string& feature,
                         const std::string& max_side, int num_threads, const py::dict& control) {
  const ImageOptions images{
      .feature = feature, .max_side = max_side, .codebook = {}, .vocabulary_folder = {}};
  LoadOptions load;
  load.num_threads = usable_threads(num_threads);
  std::optional<InputRows> input;
  std::optional<Dataset> data;
  run_work(control_from(control), [&](Monitor& monitor) {
    input = open_rows(path, images, load, monitor);
    data = input->rows.take();
  });
  return to_python(*input, *data);
}

py::dict to_python(const ExtractResult& result) {
  py::list skipped;
  for (const ImageFolder::Skipped& one : result.skipped)
    skipped.append(py::make_tuple(one.path, one.reason));
  py::dict out;
  out["n_images"] = result.num_images;
  out["n_computed"] = result.num_computed;
  out["skipped"] = skipped;
  out["warnings"] = result.warnings;
  return out;
}

// A feature folder, or one of its shards ("2/8"; "": all of it).
py::dict write_features(const std::string& path, const std::string& feature, const std::string& out,
                        const std::string& shard, int max_side, bool patches, int num_threads,
                        const py::dict& control) {
  ExtractOptions options;
  options.decode.max_side = max_side;
  options.patches = patches;
  options.num_threads = usable_threads(num_threads);
  options.waits = true;
  options.read_codebook = read_codebook;
  if (!shard.empty()) options.shard = parse_shard(shard);
  ExtractResult result;
  run_work(control_from(control), [&](Monitor& monitor) {
    result = extract_features(list_images(path), parse_features(feature), out, options, monitor);
  });
  return to_python(result);
}

py::dict merge_feature_shards(const std::string& out, const py::dict& control) {
  ExtractOptions options;
  options.waits = true;
  options.read_codebook = read_codebook;
  ExtractResult result;
  run_work(control_from(control),
           [&](Monitor& monitor) { result = merge_features(out, options, monitor); });
  return to_python(result);
}

// height x width (grey) or height x width x 3 (red, green, blue) bytes.
Image image_from(py::handle value, size_t place) {
  const auto array = py::array_t<uint8_t, py::array::c_style>::ensure(value);
  const bool is_gray = array && array.ndim() == 2;
  if (!array || !py::isinstance<py::array_t<uint8_t>>(value) ||
      !(is_gray || (array.ndim() == 3 && array.shape(2) == 3)) || array.size() == 0) {
    PyErr_Clear();
    throw InvalidArgument(fmt::format(
        "image {} must be an array of uint8, height x width or height x width x 3", place));
  }
  Image image = make_image(static_cast<int>(array.shape(1)), static_cast<int>(array.shape(0)));
  image.is_gray = is_gray;
  const uint8_t* bytes = array.data();
  const size_t channels = is_gray ? 1 : 3;
  for (size_t i = 0; i < image.rgb.size(); ++i)
    image.rgb[i] = bytes[i / 3 * channels + i % 3 % channels];
  return image;
}

// One row: the features side by side.
std::vector<float> describe(const std::vector<FeatureSpec>& specs, const Image& image) {
  static const std::string no_path;
  std::vector<float> row;
  for (const FeatureSpec& spec : specs) {
    const std::vector<float> part = spec.feature->whole({image, no_path});
    row.insert(row.end(), part.begin(), part.end());
  }
  return row;
}

// Ready to describe images; they must not outlive the monitor, which stops networks.
std::vector<FeatureSpec> open_features(const std::string& text, const Monitor& monitor) {
  std::vector<FeatureSpec> specs = parse_features(text);
  for (FeatureSpec& spec : specs) {
    if (spec.is_local())
      throw InvalidArgument(fmt::format(
          "{} needs visual words: give a folder of images instead of arrays", spec.entry->name));
    spec.feature->prepare();
    spec.feature->open(monitor);
  }
  return specs;
}

// Whole-image features of images in memory.
py::array describe_arrays(const py::list& arrays, const std::string& feature, int max_side,
                          int num_threads, const py::dict& control) {
  std::vector<Image> images;
  for (const py::handle array : arrays) images.push_back(image_from(array, images.size()));
  std::vector<std::vector<float>> rows(images.size());
  run_work(control_from(control), [&](Monitor& monitor) {
    const std::vector<FeatureSpec> specs = open_features(feature, monitor);
    parallel_for(static_cast<int64_t>(images.size()), 1, usable_threads(num_threads),
                 [&](const Block& block) {
                   if (monitor.should_stop()) return;
                   const auto i = static_cast<size_t>(block.begin);
                   rows[i] = describe(specs, limit_side(images[i], max_side));
                 });
  });
  Matrix<float> out(static_cast<int64_t>(rows.size()),
                    rows.empty() ? 0 : static_cast<int64_t>(rows[0].size()));
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy(rows[i].begin(), rows[i].end(), out.row(static_cast<int64_t>(i)));
  return to_array(std::move(out));
}

}  // namespace

}  // namespace milieu::python

PYBIND11_MODULE(_images, m) {
  using namespace milieu::python;
  m.doc() = "Milieu's images, run folders and reports. Use the package `milieu`.";
  py::register_exception_translator(&translate_error);
  m.def("describe_folder", &describe_folder);
  m.def("describe_arrays", &describe_arrays);
  m.def("write_features", &write_features);
  m.def("merge_features", &merge_feature_shards);
  m.def("write_run", [](const std::string& folder, const py::dict& run, bool force) {
    write_run(outcome_from(run), folder, force);
  });
  m.def("report_html",
        [](const py::dict& run) { return milieu::render_run_page(outcome_from(run)); });
}
