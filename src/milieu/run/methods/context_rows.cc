// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/methods/context_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/error.h"
#include "milieu/data/selection.h"

namespace milieu {

namespace {

std::vector<int64_t> rows_beside(const RowSource& source, const std::string& classes,
                                 const std::string& rows_path) {
  std::vector<int64_t> context;
  if (!classes.empty() && source.labels().empty())
    throw InvalidArgument(
        fmt::format("context_select is \"{}\", but {} has no classes: give a label file", classes,
                    source.source()));
  if (!classes.empty())
    context =
        kept_rows(source.labels(), kept_classes(classes, source.labels(), source.labels_source()));
  else
    context = load_row_numbers(rows_path);
  std::vector<int64_t> others;
  for (int64_t row = 0; row < source.num_rows(); ++row)
    if (!std::binary_search(context.begin(), context.end(), row)) others.push_back(row);
  if (others.empty())
    throw InvalidArgument(
        "the context is all of INPUT: nothing is left to split; select fewer classes or rows");
  return others;
}

}  // namespace

void check_context_flags(InputFiles& files) {
  if (files.has("context") + files.has("context_select") + files.has("context_rows") > 1)
    throw InvalidArgument("give only one of --context, --context-select and --context-rows");
}

void leave_out_context(const InputSpec& spec, InputFiles& files, Input& input) {
  const std::string &classes = files["context_select"], &numbers = files["context_rows"];
  if (classes.empty() && numbers.empty()) return;
  if (!spec.select.empty() || !spec.rows.empty()) return;
  input.data = input.take_rows(rows_beside(*input.source, classes, numbers));
}

}  // namespace milieu
