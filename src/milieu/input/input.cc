// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/input.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/error.h"
#include "milieu/data/selection.h"
#include "milieu/input/training.h"

namespace milieu {

namespace {

const RowSource& require_rows(const Input& input) {
  if (!input.source)
    throw InvalidArgument(
        fmt::format("{} is not made of rows, so no other set can be taken from it: give a file",
                    input.data.source));
  return *input.source;
}

}  // namespace

Dataset Input::take_rows(const std::vector<int64_t>& rows) const {
  return require_rows(*this).take("", rows);
}

Dataset Input::take_classes(const std::string& select) const {
  const RowSource& all = require_rows(*this);
  std::vector<int64_t> others;
  for (int64_t row = 0; row < all.num_rows() && !named_rows.empty(); ++row)
    if (!std::binary_search(named_rows.begin(), named_rows.end(), row)) others.push_back(row);
  return all.take(select, others);
}

LoadOptions load_options_of(const InputSpec& spec, int num_threads) {
  LoadOptions load;
  load.labels_path = spec.labels;
  load.label_column = spec.label_column;
  load.select = spec.select;
  if (!spec.rows.empty()) load.rows = load_row_numbers(spec.rows);
  load.num_threads = num_threads;
  load.allow_non_finite = spec.allow_non_finite;
  return load;
}

ImageOptions image_options_of(const InputSpec& spec) {
  return {.feature = spec.feature,
          .max_side = spec.max_side,
          .codebook = spec.codebook,
          .vocabulary_folder = {},
          .vectors = spec.vectors,
          .vector_names = spec.vector_names};
}

Input read_rows(InputSpec& spec, int num_threads, const std::string& model, Monitor& monitor) {
  const LoadOptions load = load_options_of(spec, num_threads);
  const ImageOptions options = image_options_of(spec);
  InputRows opened = model.empty()
                         ? open_rows(spec.path, options, load, monitor)
                         : open_rows_like_training(spec.path, model, options, load, monitor);
  Input input;
  input.data = opened.rows.take(load.select, load.rows);
  input.named_rows = load.rows;
  input.source = std::move(opened.rows);
  input.images = std::move(opened.images);
  input.warnings = std::move(opened.warnings);
  if (spec.feature.empty()) spec.feature = input.images.feature;
  if (spec.max_side.empty()) spec.max_side = input.images.max_side;
  if (input.images.max_side.empty()) input.images.max_side = spec.max_side;
  return input;
}

}  // namespace milieu
