// SPDX-License-Identifier: Apache-2.0
// Reading constraints, and finding out which of them contradict each other.
#include "milieu/base/counted.h"
#include "milieu/dcp/dcp_constraints_internal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu::internal {
namespace {

[[noreturn]] void refuse_sizes(const std::string& text, const std::string& rule) {
  throw InvalidArgument(fmt::format("sizes is '{}', {}", text, rule));
}

// "40" or "20%" as a number of samples; `is_least` rounds a share up, else down.
int64_t parse_count(std::string_view item, bool is_least, int64_t n, const std::string& text) {
  const bool is_share = !item.empty() && item.back() == '%';
  if (is_share) item.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
  if (error != std::errc() || end != item.data() + item.size() || !(value >= 0) ||
      (!is_share && value != std::floor(value)) || (is_share && value > 100))
    refuse_sizes(text, "must be numbers, ranges or percentages such as 4,6 or 10- or 20%-80%");
  if (!is_share) return static_cast<int64_t>(std::min(value, 9e15));
  const double exact = value / 100 * static_cast<double>(n);
  return static_cast<int64_t>(is_least ? std::ceil(exact - 1e-9) : std::floor(exact + 1e-9));
}

std::pair<int64_t, int64_t> parse_range(std::string_view item, int64_t n, const std::string& text) {
  const size_t dash = item.find('-');
  if (dash == std::string_view::npos) {
    if (item.ends_with('%'))
      refuse_sizes(text, "a percentage needs a range, such as 20%- or 20%-80%");
    const int64_t count = parse_count(item, true, n, text);
    return {count, count};
  }
  const std::string_view low = item.substr(0, dash), high = item.substr(dash + 1);
  return {low.empty() ? 0 : parse_count(low, true, n, text),
          high.empty() ? n : parse_count(high, false, n, text)};
}

}  // namespace

SizeLimits parse_sizes(const std::string& text, int num_parts, int64_t n) {
  SizeLimits limits;
  if (text.empty()) return limits;
  std::vector<std::pair<int64_t, int64_t>> items;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string_view item = std::string_view(text).substr(begin, end - begin);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    items.push_back(parse_range(item, n, text));
    begin = end + 1;
  }
  if (items.size() != 1 && static_cast<int>(items.size()) != num_parts)
    refuse_sizes(text, fmt::format("has {}, must have 1 (for all parts) or {} (one per part)",
                                   counted(items.size(), "item"), num_parts));
  for (int k = 0; k < num_parts; ++k) {
    const auto [least, most] = items[items.size() == 1 ? 0 : k];
    if (least > most)
      refuse_sizes(
          text, fmt::format("asks part {} for at least {} and at most {} samples", k, least, most));
    limits.least.push_back(least);
    limits.most.push_back(std::min(most, n));
  }
  return limits;
}

namespace {

// One constraint and its description.
struct Clause {
  enum class Kind { Membership, Must, Cannot, Sizes } kind;
  int64_t a = 0, b = 0;
};

class ConflictFinder {
 public:
  ConflictFinder(int64_t n, int num_parts, const ConstraintList& list)
      : n_(n), num_parts_(num_parts), list_(list) {
    for (const auto& [i, part] : list.memberships)
      clauses_.push_back({Clause::Kind::Membership, i, part});
    for (const auto& [i, j] : list.must_links) clauses_.push_back({Clause::Kind::Must, i, j});
    for (const auto& [i, j] : list.cannot_links) clauses_.push_back({Clause::Kind::Cannot, i, j});
    if (!list.sizes.empty()) clauses_.push_back({Clause::Kind::Sizes});
  }

  bool is_feasible() const { return is_feasible(clauses_); }

  // A set of constraints that contradict each other while any smaller part of it does not; of a few
  // such sets, found from different orders, the smallest.
  std::vector<std::string> smallest_conflict() const {
    constexpr uint64_t kOrders = 6;
    std::vector<Clause> best;
    for (uint64_t order = 0; order < kOrders; ++order) {
      std::vector<Clause> shuffled = clauses_;
      Random(order).shuffle(std::span<Clause>(shuffled));
      const std::vector<Clause> found = explain({}, false, shuffled);
      if (order == 0 || found.size() < best.size()) best = found;
    }
    std::vector<std::string> words;
    for (const Clause& clause : best) words.push_back(text(clause));
    std::sort(words.begin(), words.end());
    return words;
  }

 private:
  bool is_feasible(const std::vector<Clause>& clauses) const {
    ConstraintList list;
    for (const Clause& c : clauses) {
      if (c.kind == Clause::Kind::Membership)
        list.memberships.emplace_back(c.a, static_cast<int>(c.b));
      if (c.kind == Clause::Kind::Must) list.must_links.emplace_back(c.a, c.b);
      if (c.kind == Clause::Kind::Cannot) list.cannot_links.emplace_back(c.a, c.b);
      if (c.kind == Clause::Kind::Sizes) list.sizes = list_.sizes;
    }
    if (list.empty()) return true;
    const Constraints constraints(n_, num_parts_, list);
    // A search that was cut has proven nothing.
    return constraints.assign(Matrix<double>(n_, num_parts_)).has_value() ||
           !constraints.is_exact();
  }

  // QuickXplain [Junker04]: what of `rest` is needed, beside `base`, for a contradiction.
  std::vector<Clause> explain(const std::vector<Clause>& base, bool base_grew,
                              const std::vector<Clause>& rest) const {
    if (base_grew && !is_feasible(base)) return {};
    if (rest.size() == 1) return rest;
    const auto middle = rest.begin() + static_cast<std::ptrdiff_t>(rest.size() / 2);
    const std::vector<Clause> first(rest.begin(), middle), second(middle, rest.end());
    const std::vector<Clause> from_second = explain(join(base, first), true, second);
    const std::vector<Clause> from_first =
        explain(join(base, from_second), !from_second.empty(), first);
    return join(from_first, from_second);
  }

  static std::vector<Clause> join(std::vector<Clause> a, const std::vector<Clause>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  std::string text(const Clause& c) const {
    switch (c.kind) {
      case Clause::Kind::Membership:
        return fmt::format("sample {} in part {}", c.a, c.b);
      case Clause::Kind::Must:
        return fmt::format("samples {} and {} together", c.a, c.b);
      case Clause::Kind::Cannot:
        return fmt::format("samples {} and {} apart", c.a, c.b);
      default:
        return fmt::format("sizes at least {} and at most {}", fmt::join(list_.sizes.least, ", "),
                           fmt::join(list_.sizes.most, ", "));
    }
  }

  int64_t n_;
  int num_parts_;
  const ConstraintList& list_;
  std::vector<Clause> clauses_;
};

void add_links(std::span<const DcpLink> links, int64_t n, const char* name,
               std::vector<DcpLink>& out) {
  for (const auto& [i, j] : links) {
    require(i >= 0 && i < n && j >= 0 && j < n, [&] {
      return fmt::format("{} has the pair {}, {}: samples are numbered from 0 to {}", name, i, j,
                         n - 1);
    });
    out.emplace_back(i, j);
  }
}

}  // namespace

Constraints make_constraints(const DcpInput& input, const DcpOptions& options) {
  const int64_t n = input.points.rows();
  ConstraintList list;
  for (size_t i = 0; i < input.memberships.size(); ++i)
    if (input.memberships[i] >= 0)
      list.memberships.emplace_back(static_cast<int64_t>(i), input.memberships[i]);
  add_links(input.must_links, n, "must_links", list.must_links);
  add_links(input.cannot_links, n, "cannot_links", list.cannot_links);
  list.sizes = parse_sizes(options.sizes, options.num_clusters, n);
  if (list.empty()) return {};
  const ConflictFinder finder(n, options.num_clusters, list);
  if (!finder.is_feasible())
    throw InvalidArgument(
        fmt::format("no split into {} of {} obeys all constraints; these contradict "
                    "each other: {}: drop one of them",
                    counted(options.num_clusters, "part"), counted(n, "sample"),
                    fmt::join(finder.smallest_conflict(), "; ")));
  return Constraints(n, options.num_clusters, list);
}

}  // namespace milieu::internal
