// SPDX-License-Identifier: Apache-2.0
// Positive semi-definite kernels between samples, by name: blocks, and whole Gram matrices on many
// threads. Sums run in double; the same bits for any number of threads and on every CPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/monitor.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

enum class Kernel {
  Linear,         // x.y
  Polynomial,     // (gamma x.y + offset)^degree
  Intersection,   // sum min(x, y); features >= 0
  ChiSquared,     // additive: sum 2 x y / (x + y) over coordinates with x + y > 0; features >= 0
  ExpChiSquared,  // exp(-gamma sum (x - y)^2 / (x + y)); features >= 0
  Rbf,            // exp(-gamma |x - y|^2)
};

// The names users write: linear, polynomial, intersection, chi-squared, exp-chi-squared, rbf.
ChoiceRule<Kernel> kernel_choices();

// A kernel with its parameters. `gamma` must be above 0 where it is used (choose_gamma finds one).
struct KernelSpec {
  Kernel kernel = Kernel::Linear;
  double gamma = 1;   // Polynomial, ExpChiSquared, Rbf
  double offset = 1;  // Polynomial: at least 0
  int degree = 2;     // Polynomial: at least 1
};

// Throws InvalidArgument when a number that the kernel uses breaks its rule.
void validate_kernel(const KernelSpec& spec);

// A gamma that suits the data, the same for any order of threads. Polynomial: 1 / columns. Rbf: 1 /
// mean squared distance of all pairs. ExpChiSquared: 1 / mean chi-squared distance of at most 1000
// evenly spread rows. 1 where all rows are equal and for kernels without gamma.
double choose_gamma(Kernel kernel, FloatView points, int num_threads = 0);

// out(i, j) = k(a_i, b_j); a is m x d, b is n x d, out is m x n. Single-threaded. Throws
// InvalidArgument for negative features where the kernel needs histograms.
void kernel_block(const KernelSpec& spec, FloatView a, FloatView b, MatrixView<double> out);
void kernel_block(const KernelSpec& spec, FloatView a, FloatView b, MatrixView<float> out);

// The same on threads, in blocks. Returns false, with `out` incomplete, when the monitor asks to
// stop.
bool cross_gram(const KernelSpec& spec, FloatView a, FloatView b, MatrixView<double> out,
                int num_threads = 0, Monitor& monitor = silent_monitor());
bool cross_gram(const KernelSpec& spec, FloatView a, FloatView b, MatrixView<float> out,
                int num_threads = 0, Monitor& monitor = silent_monitor());

// out(i, j) = k(x_i, x_j), n x n, exactly symmetric; each pair is computed once.
bool gram(const KernelSpec& spec, FloatView points, MatrixView<double> out, int num_threads = 0,
          Monitor& monitor = silent_monitor());
bool gram(const KernelSpec& spec, FloatView points, MatrixView<float> out, int num_threads = 0,
          Monitor& monitor = silent_monitor());

// The distances of a square kernel matrix, sqrt(k_pp + k_qq - k_pq - k_qp). Throws DataError,
// naming `source`, where it is not square, and where an entry is far too large for a kernel.
Matrix<float> kernel_distances(FloatView kernel, const std::string& source);

// k(x_i, x_i) of every row.
std::vector<double> kernel_diagonal(const KernelSpec& spec, FloatView points);

}  // namespace milieu
