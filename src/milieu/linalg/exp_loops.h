// SPDX-License-Identifier: Apache-2.0
// The loops of log_sum_exp.h, compiled for each instruction set with the same bits on all.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

// softmax_row: row <- exp(row - largest) / sum; returns the largest entry, *sum is the sum of
// exp(row - largest) before division. exp_values: values <- exp(values).
MILIEU_DECLARE_ISA(float softmax_row(float* row, int64_t count, double* sum);
                   void exp_values(float* values, int64_t count);)
