// SPDX-License-Identifier: Apache-2.0
// Problem: which classes should be split, and what speaks for it?
// Find: 1. principal axes of all samples, and for every class the axes that distinguish the others;
//   2. a class with a gap (icc_gap.cc) is cut, and its parts are looked at in the same way;
//   3. the best classifier of whole classes, and the same with parts: what it gains on held-out
//   samples, one class at a time; 4. a class without a gap is split by ICC or by two
//   Gaussians where the gain is beyond chance: the context cuts it.
// Conventions: parts are numbered class by class; the gain of a class is that of replacing its
//   column of held-out scores.
// See: [Yu13], docs/algorithms/icc.md.
#include "milieu/icc/advise/icc_advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/classify/class_labels.h"
#include "milieu/classify/lda.h"
#include "milieu/icc/advise/icc_advise_internal.h"
#include "milieu/icc/advise/icc_gap_internal.h"
#include "milieu/linalg/finite.h"
#include "milieu/linalg/pca.h"

namespace milieu {

namespace {

using namespace internal;

constexpr int64_t kMostAxes = 100, kContextAxes = 50;
constexpr int kFewestOthers = 3;  // classes, for the axes that distinguish them

// Discriminant axes of all classes but one, in the space; empty where there are too few of them.
Matrix<double> context_axes(const Space& space, int left_out) {
  if (space.num_classes - 1 < kFewestOthers) return {};
  std::vector<int64_t> rows;
  std::vector<int> labels;
  for (size_t i = 0; i < space.classes.size(); ++i)
    if (space.classes[i] != left_out) {
      rows.push_back(static_cast<int64_t>(i));
      labels.push_back(space.classes[i] - (space.classes[i] > left_out ? 1 : 0));
    }
  const LdaModel lda = fit_lda(widen(gather(space.rows, rows, kContextAxes)), labels);
  Matrix<double> axes(lda.components.rows(), space.rows.cols());
  for (int64_t a = 0; a < axes.rows(); ++a)
    std::copy_n(lda.components.row(a), lda.components.cols(), axes.row(a));
  return axes;
}

// Parts of a class by its gaps, 0, 1, ...; the evidence of the first cut stands in `advice`.
std::vector<int> split_by_gaps(const Space& space, int c, const IccAdviseOptions& options,
                               DipTest& test, IccClassAdvice& advice, const Monitor& monitor) {
  const std::vector<int64_t> members = rows_of({space.classes.begin(), space.classes.end()}, c);
  std::vector<int> parts(members.size(), 0);
  const Matrix<double> axes = context_axes(space, c);
  const Random random = Random(options.seed).child(static_cast<uint64_t>(c));
  int num_parts = 1;
  for (int part = 0; part < num_parts; ++part) {  // parts that a cut adds are looked at later
    for (int looks = 0; num_parts < options.max_parts && !monitor.should_stop(); ++looks) {
      const std::vector<int64_t> places = rows_of(parts, part);
      if (static_cast<int>(places.size()) < 4 * options.min_size) break;
      std::vector<int64_t> rows;
      for (const int64_t place : places) rows.push_back(members[place]);
      const Gap gap =
          find_gap(gather(space.rows, rows, space.rows.cols()), axes, options,
                   random.child(static_cast<uint64_t>(100 * part + looks)), test, monitor);
      if (monitor.should_stop()) break;  // the class counts as kept
      if (part == 0 && looks == 0) advice.gap_p = gap.p_value, advice.stability = gap.stability;
      if (gap.p_value > options.level) break;
      for (size_t i = 0; i < places.size(); ++i)
        if (gap.sides[i] == 1) parts[places[i]] = num_parts;
      ++num_parts;
    }
  }
  return parts;
}

void summarize(const IccAdviseInput& input, const IccAdviseOptions& options, double seconds,
               const Monitor& monitor, IccAdvice& advice) {
  RunSummary& summary = advice.summary;
  summary.method = "icc advise";
  summary.version = version();
  summary.seed = options.seed;
  summary.n = input.points.rows();
  summary.d = input.points.cols();
  summary.iterations = 1;
  std::vector<std::string> verdicts;
  std::vector<int64_t> parts, contexts, ended;
  std::vector<double> p_values, stabilities, gains, gain_ps;
  int64_t judged = 0, split = 0;
  for (const IccClassAdvice& own : advice.classes) {
    verdicts.emplace_back(to_string(own.verdict));
    parts.push_back(std::ssize(own.part_sizes));
    contexts.push_back(own.context);
    ended.push_back(own.ended_confusions);
    p_values.push_back(own.gap_p);
    stabilities.push_back(own.stability);
    gains.push_back(own.gain);
    gain_ps.push_back(own.gain_p);
    judged += own.verdict != IccVerdict::TooFew;
    split += own.verdict == IccVerdict::Split || own.verdict == IccVerdict::Context;
  }
  summary.objective = judged > 0 ? static_cast<double>(split) / static_cast<double>(judged) : 0;
  summary.extra = {
      {"classes_judged", judged}, {"classes_to_split", split}, {"verdicts", verdicts},
      {"parts", parts},           {"gap_p_values", p_values},  {"stabilities", stabilities},
      {"gains", gains},           {"gain_p_values", gain_ps},  {"context_classes", contexts},
      {"ended_confusions", ended}};
  set_sizes(summary, advice.labels, static_cast<int>(advice.class_from_part.size()));
  const StopReason reason = monitor.stop_reason();
  summary.termination =
      reason == StopReason::None ? Termination::Converged : termination_from(reason);
  summary.message =
      reason == StopReason::None ? "all classes judged" : "stopped early: the rest is kept";
  summary.seconds = seconds;
}

}  // namespace

const char* to_string(IccVerdict verdict) {
  switch (verdict) {
    case IccVerdict::Keep:
      return "keep";
    case IccVerdict::Split:
      return "split";
    case IccVerdict::Context:
      return "split for context";
    case IccVerdict::TooFew:
      return "too few samples";
  }
  return "";
}

IccAdvice advise_icc(const IccAdviseInput& input, const IccAdviseOptions& options,
                     Monitor& monitor) {
  const Stopwatch watch;
  validate_options(options);
  require(!input.points.empty(), "advise_icc: there are no points");
  const std::vector<int64_t> counts = count_classes(input.classes, input.points.rows());
  if (const auto place = find_non_finite(input.points, options.num_threads))
    throw DataError(fmt::format("points has {} at row {}, column {} (counted from 0)",
                                input.points(place->row, place->column), place->row,
                                place->column));
  const int64_t most = std::min({input.points.rows(), input.points.cols(), kMostAxes});
  const Space space{project(fit_pca(input.points, static_cast<int>(most)), input.points),
                    input.classes, static_cast<int>(counts.size())};
  IccAdvice advice;
  advice.classes.resize(counts.size());
  std::vector<std::vector<int>> parts;
  DipTest test(options.seed);
  for (int c = 0; c < space.num_classes; ++c) {
    monitor.on_progress("classes", c, space.num_classes);
    IccClassAdvice& own = advice.classes[c];
    own.size = counts[c];
    if (own.size < 4 * options.min_size) {
      own.verdict = IccVerdict::TooFew;
      parts.emplace_back(counts[c], 0);
      continue;
    }
    parts.push_back(split_by_gaps(space, c, options, test, own, monitor));
    if (*std::ranges::max_element(parts.back()) > 0) own.verdict = IccVerdict::Split;
  }
  if (space.num_classes > 1 && !monitor.should_stop())
    add_evidence(space, options, parts, advice, monitor);
  Subclasses all = number_parts(space, parts);
  advice.labels = std::move(all.labels);
  advice.class_from_part = std::move(all.class_from_subclass);
  std::vector<int64_t> sizes(advice.class_from_part.size());
  for (const int label : advice.labels) ++sizes[label];
  for (size_t p = 0; p < sizes.size(); ++p)
    advice.classes[advice.class_from_part[p]].part_sizes.push_back(sizes[p]);
  summarize(input, options, watch.seconds(), monitor, advice);
  return advice;
}

std::string advice_text(const IccAdvice& advice, const std::vector<std::string>& class_names) {
  const auto name_of = [&](size_t c) {
    return c < class_names.size() ? class_names[c] : fmt::format("{}", c);
  };
  std::string text =
      fmt::format("{:<20} {:>7}  {:<18} {:>5} {:>8} {:>9} {:>7}  {}\n", "class", "samples",
                  "verdict", "parts", "p of gap", "stability", "gain", "context");
  for (size_t c = 0; c < advice.classes.size(); ++c) {
    const IccClassAdvice& own = advice.classes[c];
    const bool is_split = own.part_sizes.size() > 1;
    text += fmt::format("{:<20} {:>7}  {:<18} {:>5} {:>8} {:>9} {:>7}  {}\n", name_of(c), own.size,
                        to_string(own.verdict), own.part_sizes.size(),
                        own.verdict == IccVerdict::TooFew ? "-" : fmt::format("{:.4f}", own.gap_p),
                        is_split ? fmt::format("{:.2f}", own.stability) : "-",
                        is_split ? fmt::format("{:+.2f} %", 100 * own.gain) : "-",
                        is_split && own.context >= 0
                            ? fmt::format("{} ({})", name_of(own.context), own.ended_confusions)
                            : "-");
  }
  return text;
}

}  // namespace milieu
