// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/input_binder.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/groups.h"
#include "milieu/data/links.h"
#include "milieu/data/selection.h"
#include "milieu/input/training.h"
#include "milieu/input/vectors/vector_file.h"

namespace milieu {

namespace {

int64_t row_number(float value, const RowFiles& rows, const std::string& path, int64_t line) {
  if (!(value >= 0 && value < static_cast<float>(rows.num_rows())) || value != std::floor(value))
    throw DataError(fmt::format(
        "{} names row {} in entry {} (counted from 0), must be a whole number from 0 to "
        "{}: the rows of INPUT",
        path, value, line, rows.num_rows() - 1));
  return static_cast<int64_t>(value);
}

// Pairs of kept rows with their costs; pairs of rows that were not kept are left out.
std::vector<ServiceEntry> read_costs(const std::string& path, const RowFiles& rows) {
  const Dataset file = load_dataset(path);
  const FloatView values = file.points.view();
  if (values.cols() != 3)
    throw DataError(fmt::format("{} has {}, must have three: row, row that may represent it, cost",
                                path, counted(values.cols(), "column")));
  std::vector<ServiceEntry> entries;
  for (int64_t i = 0; i < values.rows(); ++i) {
    const int64_t p = rows.kept_row(row_number(values(i, 0), rows, path, i));
    const int64_t q = rows.kept_row(row_number(values(i, 1), rows, path, i));
    if (p >= 0 && q >= 0)
      entries.push_back({static_cast<int>(p), static_cast<int>(q), values(i, 2)});
  }
  return entries;
}

// Samples of another file or folder; images are described as those of INPUT, with the same words.
Dataset load_samples_like(const Input& input, const std::string& path, Monitor& monitor) {
  if (path.ends_with(".npz") || path.ends_with(".safetensors")) {
    VectorFile file = read_vector_file(path);
    return make_dataset(std::move(file.points), {}, std::move(file.names), path);
  }
  if (!std::filesystem::is_directory(path)) return load_dataset(path);
  if (input.images.feature.empty())
    throw InvalidArgument(
        fmt::format("{} is a folder, but {} is a file of numbers: give a file, or "
                    "rank its files with --rank-contexts",
                    path, input.data.source));
  return open_rows_like(path, input.images, input.data.source, {}, {}, monitor).rows.take();
}

}  // namespace

const std::string& InputBinder::path_of(const char* name) const {
  static const std::string none;
  return skipped_.contains(name) ? none : files_[name];
}

const Dataset* InputBinder::samples(const std::string& name) const {
  const auto found = samples_.find(name);
  return found == samples_.end() ? nullptr : &found->second;
}

// From a file, or from INPUT by classes or row numbers.
const Dataset* InputBinder::bind_samples(const std::string& name) {
  if (skipped_.contains(name)) return nullptr;
  const std::string &file = files_[name], &classes = files_[name + "_select"],
                    &numbers = files_[name + "_rows"];
  if (!file.empty() + !classes.empty() + !numbers.empty() > 1)
    throw InvalidArgument(fmt::format("give only one of --{0}, --{0}-select and --{0}-rows", name));
  if (file.empty() && classes.empty() && numbers.empty()) return nullptr;
  Dataset data = !file.empty()      ? load_samples_like(input_, file, monitor_)
                 : !numbers.empty() ? input_.take_rows(load_row_numbers(numbers))
                                    : input_.take_classes(classes);
  return &samples_.insert_or_assign(name, std::move(data)).first->second;
}

void InputBinder::operator()(const char* name, FloatView& value, const InputRule& rule,
                             const char*) {
  if (rule.kind == InputKind::Samples) {
    if (const Dataset* data = bind_samples(name)) value = data->points.view();
    return;
  }
  const std::string& path = path_of(name);
  if (path.empty()) return;
  points_.push_back(rule.kind == InputKind::Rows ? rows_.matrix(path) : load_dataset(path).points);
  value = points_.back().view();
}

void InputBinder::operator()(const char* name, DoubleView& value, const InputRule&, const char*) {
  const std::string& path = path_of(name);
  if (path.empty()) return;
  const Points points = load_dataset(path).points;
  Matrix<double> wide(points.rows(), points.cols());
  for (int64_t i = 0; i < wide.rows(); ++i)
    std::copy_n(points.view().row(i), wide.cols(), wide.row(i));
  matrices_.push_back(std::move(wide));
  value = matrices_.back().view();
}

void InputBinder::operator()(const char* name, std::span<const double>& value,
                             const InputRule& rule, const char*) {
  const std::string& path = path_of(name);
  if (path.empty()) return;
  numbers_.push_back(rule.kind == InputKind::Weights ? rows_.weights(path) : load_numbers(path));
  value = numbers_.back();
}

void InputBinder::operator()(const char* name, std::span<const int>& value, const InputRule& rule,
                             const char*) {
  const std::string& path = path_of(name);
  if (path.empty()) return;
  integers_.push_back(rule.kind == InputKind::Classes ? rows_.labels(path).indices
                      : rule.kind == InputKind::Parts ? rows_.parts(path)
                                                      : load_whole_labels(path));
  value = integers_.back();
}

void InputBinder::operator()(const char* name, std::span<const std::pair<int64_t, int64_t>>& value,
                             const InputRule&, const char*) {
  const std::string& path = path_of(name);
  if (path.empty()) return;
  pairs_.push_back(rows_.pairs(path));
  value = pairs_.back();
}

void InputBinder::operator()(const char* name, const ContextGroups*& value, const InputRule& rule,
                             const char*) {
  const std::string& path = path_of(name);
  if (path.empty()) return;
  const bool is_linked = rule.kind == InputKind::Links;
  const std::vector<int64_t>& rows = input_.data.rows;
  Groups groups =
      is_linked ? load_links(path, rows_.num_rows()) : load_groups(path, rows_.num_rows());
  if (!rows.empty())
    groups = is_linked ? select_neighborhoods(groups, rows) : select_members(groups, rows);
  group_names_ = groups.names;
  groups_ = std::make_unique<ContextGroups>(context_from_groups(groups));
  value = groups_.get();
}

// The penalties that lists need are known at the fit: the entries wait for it.
void InputBinder::operator()(const char* name, const ServiceLists*&, const InputRule&,
                             const char*) {
  const std::string& path = path_of(name);
  if (!path.empty()) entries_ = read_costs(path, rows_);
}

}  // namespace milieu
