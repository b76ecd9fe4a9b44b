// SPDX-License-Identifier: Apache-2.0
// milieu exemplar: exemplar/exemplar.h on the command line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "commands.h"
#include "method.h"
#include "milieu/base/error.h"
#include "milieu/exemplar/exemplar.h"
#include "rows.h"

namespace milieu::cli {

namespace {

struct ExemplarFiles {
  std::string penalties;
  std::string lists;
};

template <class Visitor>
void visit_fields(ExemplarFiles& o, Visitor&& v) {
  v("penalties", o.penalties, anything(),
    "file with the penalty of every row, in place of --penalty");
  v("lists", o.lists, anything(),
    "file of three columns, row of INPUT, row that may serve it, cost: only these pairs count, in "
    "place of a distance");
}

// A row number in the lists, as a kept row; -1 when --select dropped it.
int64_t kept_row(float value, const std::vector<int64_t>& kept, int64_t num_rows,
                 const std::string& path, int64_t line) {
  if (!(value >= 0 && value < static_cast<float>(num_rows)) || value != std::floor(value))
    throw DataError(fmt::format(
        "{} names row {} in entry {} (counted from 0), must be a whole number from 0 to "
        "{}: the rows of INPUT",
        path, value, line, num_rows - 1));
  return kept.empty() ? static_cast<int64_t>(value) : kept[static_cast<size_t>(value)];
}

std::vector<ServiceEntry> read_lists(const std::string& path, RowFiles& rows) {
  const Dataset file = load_dataset(path);
  const FloatView values = file.points.view();
  if (values.cols() != 3)
    throw DataError(
        fmt::format("{} has {} columns, must have three: row, row that may serve it, cost", path,
                    values.cols()));
  const Dataset& data = rows.data();
  int64_t num_rows = data.points.rows();
  std::vector<int64_t> kept;
  if (!data.rows.empty()) {
    num_rows = rows.num_rows();
    kept.assign(static_cast<size_t>(num_rows), -1);
    for (size_t i = 0; i < data.rows.size(); ++i)
      kept[static_cast<size_t>(data.rows[i])] = static_cast<int64_t>(i);
  }
  std::vector<ServiceEntry> entries;
  for (int64_t i = 0; i < values.rows(); ++i) {
    const int64_t p = kept_row(values(i, 0), kept, num_rows, path, i);
    const int64_t q = kept_row(values(i, 1), kept, num_rows, path, i);
    if (p >= 0 && q >= 0)
      entries.push_back({static_cast<int>(p), static_cast<int>(q), values(i, 2)});
  }
  return entries;
}

class ExemplarMethod : public MethodWith<ExemplarOptions, ExemplarFiles> {
 public:
  void load_files(RowFiles& rows) override {
    if (!files_.penalties.empty()) penalties_ = rows.weights(files_.penalties);
    if (!files_.lists.empty()) entries_ = read_lists(files_.lists, rows);
  }

  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    if (!files_.lists.empty()) return fit_lists(data.points.rows(), monitor);
    ExemplarInput input;
    input.points = data.points.view();
    input.penalties = penalties_;
    return to_method_result(fit_exemplar(input, options_, monitor));
  }

 private:
  MethodResult fit_lists(int64_t n, Monitor& monitor) {
    std::vector<double> penalties = penalties_;
    if (penalties.empty()) {
      std::vector<float> costs;
      for (const ServiceEntry& entry : entries_)
        if (entry.p != entry.q) costs.push_back(entry.cost);
      penalties.assign(static_cast<size_t>(n),
                       penalty_from_text(options_.penalty, std::move(costs)));
    }
    const ServiceLists lists = lists_from_entries(n, std::move(entries_), penalties, {});
    ExemplarInput input;
    input.lists = &lists;
    return to_method_result(fit_exemplar(input, options_, monitor));
  }

  std::vector<double> penalties_;
  std::vector<ServiceEntry> entries_;
};

constexpr std::string_view kExample =
    "  milieu exemplar faces.npy --penalty 25 --out run\n"
    "    chooses the rows that represent the rest, as many as pay for 25 each, and says by how\n"
    "    much another choice could be better at most. A wished number, or a matrix of costs:\n"
    "  milieu exemplar faces.npy -k 12 --distance l1\n"
    "  milieu exemplar costs.npy --distance precomputed --penalty median\n"
    "    A few candidates for each row (columns: row, row that may serve it, cost):\n"
    "  milieu exemplar faces.npy --lists pairs.csv --penalty 25\n";

}  // namespace

Command exemplar_command() {
  return {.name = "exemplar",
          .summary = "samples that represent the rest, with a certified bound",
          .example = kExample,
          .make_method = std::make_unique<ExemplarMethod>};
}

}  // namespace milieu::cli
