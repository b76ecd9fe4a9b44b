// SPDX-License-Identifier: Apache-2.0
// Which distances are candidates of which feature or view:
//
//   chi-squared,l1                  both, for every feature
//   gist:l2,lbp:l1+rbf=0.5,rbf      of gist and of lbp those, of all others rbf
//
// l2 is squared-euclidean, as in [Komodakis11, section 6]; rbf=0.5 gives the width gamma.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/pair_distance.h"

namespace MILIEU_API milieu {

struct ListedDistance {
  std::string text;  // as written
  Distance distance = Distance::Euclidean;
  double gamma = 0;  // of rbf; 0: chosen from the data
};

struct DistanceList {
  std::vector<ListedDistance> common;
  std::map<std::string, std::vector<ListedDistance>> of_view;

  const std::vector<ListedDistance>& of(const std::string& view) const;
};

// Throws InvalidArgument for unknown distances, and for a width that is not a number above 0.
DistanceList parse_distance_list(const std::string& list);

std::string distance_name(Distance distance);

// Takes the options `distance` out of "gist:distance=l2,lbp:distance=l1+rbf=0.5:radius=2" and adds
// them to `distances`: "gist:l2,lbp:l1+rbf=0.5".
std::string take_distances(const std::string& features, std::string& distances);

}  // namespace milieu
