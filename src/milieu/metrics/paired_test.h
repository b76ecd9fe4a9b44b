// SPDX-License-Identifier: Apache-2.0
// Student's paired t-test: are two methods, scored on the same trials, different on average?
#pragma once

#include <span>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

struct PairedTest {
  double mean_difference = 0;  // of first - second
  double t = 0;
  double p_value = 1;  // two-sided; 1 when all differences are 0
};

// `first` and `second` have one score per trial, at least two trials. Differences that are all
// equal and not 0 have p = 0. Throws InvalidArgument for other lengths.
PairedTest paired_t_test(std::span<const double> first, std::span<const double> second);

// P(|T| > |t|) for Student's distribution with `degrees` > 0 degrees of freedom.
double two_sided_t_probability(double t, double degrees);

}  // namespace milieu
