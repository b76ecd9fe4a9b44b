// SPDX-License-Identifier: Apache-2.0
// GoogleMock matchers for clusterings. Header-only, so that milieu_testing itself does not need
// GoogleTest; not installed.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "milieu/base/error.h"

namespace milieu {

// Labels renamed by first occurrence: 0 for the first sample's, 1 for the next new one, ...; a
// negative label (no cluster) becomes -1. Two clusterings are the same up to names exactly when
// these are equal.
inline std::vector<int> canonical_labels(const std::vector<int>& labels) {
  std::map<int, int> new_from_old;
  std::vector<int> renamed;
  renamed.reserve(labels.size());
  for (const int label : labels) {
    const int next = static_cast<int>(new_from_old.size());
    renamed.push_back(label < 0 ? -1 : new_from_old.emplace(label, next).first->second);
  }
  return renamed;
}

MATCHER_P(IsSamePartitionAs, expected, "is the same partition up to the names of the clusters") {
  const std::vector<int> given = canonical_labels(arg);
  const std::vector<int> wanted = canonical_labels(expected);
  if (given == wanted) return true;
  if (given.size() != wanted.size()) {
    *result_listener << "which has " << given.size() << " labels, not " << wanted.size();
    return false;
  }
  const auto [at, unused] = std::mismatch(given.begin(), given.end(), wanted.begin());
  *result_listener << "which first differs at sample " << at - given.begin();
  return false;
}

// Every label in [0, num_clusters); -1 only where `none_is_allowed`.
MATCHER_P2(HasLabelsBelow, num_clusters, none_is_allowed,
           "has labels below " + std::to_string(num_clusters)) {
  for (size_t i = 0; i < arg.size(); ++i) {
    if (arg[i] < (none_is_allowed ? -1 : 0) || arg[i] >= num_clusters) {
      *result_listener << "whose label of sample " << i << " is " << arg[i];
      return false;
    }
  }
  return true;
}

// No value above the one before it by more than `tolerance` times the larger magnitude of the two.
MATCHER_P(NeverRises, tolerance, "never rises") {
  for (size_t i = 1; i < arg.size(); ++i) {
    const double slack = tolerance * std::max(std::abs(arg[i - 1]), std::abs(arg[i]));
    if (!(arg[i] <= arg[i - 1] + slack)) {
      *result_listener << "which rises from " << arg[i - 1] << " to " << arg[i] << " at " << i;
      return false;
    }
  }
  return true;
}

MATCHER_P(NeverFalls, tolerance, "never falls") {
  for (size_t i = 1; i < arg.size(); ++i) {
    const double slack = tolerance * std::max(std::abs(arg[i - 1]), std::abs(arg[i]));
    if (!(arg[i] >= arg[i - 1] - slack)) {
      *result_listener << "which falls from " << arg[i - 1] << " to " << arg[i] << " at " << i;
      return false;
    }
  }
  return true;
}

// The same doubles, bit by bit: NaN equals the same NaN, 0 differs from -0.
MATCHER_P(HasBitsOf, expected, "has the same bits") {
  if (arg.size() != expected.size()) {
    *result_listener << "which has " << arg.size() << " values, not " << expected.size();
    return false;
  }
  for (size_t i = 0; i < arg.size(); ++i) {
    if (std::bit_cast<uint64_t>(arg[i]) != std::bit_cast<uint64_t>(expected[i])) {
      *result_listener << "whose value " << i << " is " << arg[i] << ", not " << expected[i];
      return false;
    }
  }
  return true;
}

// The message of the milieu::Error that `call` throws, or of the given kind of error; a test
// failure and "" when it throws none.
template <class Exception = Error, class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Exception& error) {
    return error.what();
  }
  ADD_FAILURE() << "no such error was thrown";
  return "";
}

}  // namespace milieu
