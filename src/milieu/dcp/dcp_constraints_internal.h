// SPDX-License-Identifier: Apache-2.0
// Side constraints [Lampert08, section 3.1]: known memberships, pairs that share a part or do not,
// limits of the part sizes. They change the assignment step and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "milieu/dcp/dcp.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

struct SizeLimits {
  std::vector<int64_t> least, most;  // K each; empty: no limits
  bool empty() const { return least.empty(); }
};

// From "4,6", "10-", "-30", "20%-80%"; one item for all parts or one per part. Throws
// InvalidArgument.
SizeLimits parse_sizes(const std::string& text, int num_parts, int64_t n);

// A list of constraints, as given.
struct ConstraintList {
  std::vector<std::pair<int64_t, int>> memberships;
  std::vector<DcpLink> must_links, cannot_links;
  SizeLimits sizes;
  bool empty() const {
    return memberships.empty() && must_links.empty() && cannot_links.empty() && sizes.empty();
  }
};

// The assignment step under constraints. Samples tied by must-links are one group; groups joined by
// cannot-links are one cluster, whose groups are assigned together.
class Constraints {
 public:
  Constraints() = default;  // none
  Constraints(int64_t n, int num_parts, const ConstraintList& list);

  bool empty() const { return is_empty_; }
  // A split of least total cost that obeys all constraints; `costs` is n x K. Nothing when there is
  // none. Exact unless the search had to be cut (is_exact() is false from then on).
  std::optional<std::vector<int>> assign(const Matrix<double>& costs) const;
  bool is_exact() const { return is_exact_; }

 private:
  friend class GroupSearch;

  Matrix<double> group_costs(const Matrix<double>& costs) const;
  bool is_allowed(int group, int part) const { return fixed_[group] < 0 || fixed_[group] == part; }
  // One of these assigns the groups to parts; false: impossible.
  bool assign_clusters(const Matrix<double>& costs, std::vector<int>& parts) const;
  bool assign_two_parts(const Matrix<double>& costs, std::vector<int>& parts) const;
  bool assign_by_flow(const Matrix<double>& costs, std::vector<int>& parts) const;
  bool assign_by_search(const Matrix<double>& costs, std::vector<int>& parts) const;

  bool is_empty_ = true;
  bool is_contradictory_ = false;  // a group fixed to two parts, or linked against itself
  mutable bool is_exact_ = true;
  int num_parts_ = 0;
  std::vector<int> group_of_sample_;
  std::vector<int64_t> group_sizes_;
  std::vector<int> fixed_;                 // of each group: its part, or -1
  std::vector<std::vector<int>> enemies_;  // of each group, ascending
  std::vector<std::vector<int>>
      clusters_;  // groups joined by cannot-links, in order of first group
  SizeLimits sizes_;
};

// The constraints of an input. Throws InvalidArgument for links to rows that do not exist, and for
// constraints that no split obeys, naming the smallest conflicting set found.
Constraints make_constraints(const DcpInput& input, const DcpOptions& options);

}  // namespace milieu::internal
