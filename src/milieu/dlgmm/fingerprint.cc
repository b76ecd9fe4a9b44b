// SPDX-License-Identifier: Apache-2.0
// The fingerprint of a run: version, options and input, every byte.
#include "milieu/data/identity/fingerprint.h"

#include "milieu/data/identity/row_hash.h"

#include "milieu/dlgmm/dlgmm_run_internal.h"

namespace milieu::internal {

namespace {

// Adds the arrays and scalars of a model.
struct ModelPrinter {
  Fingerprint& print;
  void operator()(const char*, const Matrix<double>& value) { print.rows(value.view(), 1); }
  void operator()(const char*, const std::vector<int>& value) {
    print.values(std::span<const int>(value));
  }
  void operator()(const char*, const Matrix<float>& value) { print.rows(value.view(), 1); }
  void operator()(const char*, const std::vector<double>& value) { print.values(std::span(value)); }
  void operator()(const char*, const std::string& value) { print.text(value); }
  void operator()(const char*, const double& value) { print.real(value); }
  void operator()(const char*, const int& value) { print.number(value); }
};

}  // namespace

std::string fingerprint_of(const DlgmmInput& input, const DlgmmOptions& options) {
  Fingerprint print("dlgmm-state");
  DlgmmOptions copy = options;
  copy.max_iterations = {};  // a state may be continued for more passes
  print.version().options(fields_of(copy));
  constexpr int64_t kBlock = 4096;
  const FloatView patches = input.images.patches;
  const Rows rows = team_of(input).rows(patches.rows(), kBlock);
  print.number(hash_rows(rows, patches.rows_between(rows.begin(), rows.end())));
  print.number(patches.rows()).number(patches.cols()).values(input.images.offsets);
  print.rows(input.images.grid, 1).values(input.images.bands);
  for (const auto& [a, b] : input.images.edges) print.number(a).number(b);
  print.rows(input.images.vectors, 1).values(input.initial_labels).rows(input.initial_words, 1);
  print.number(input.initial_model != nullptr);
  if (input.initial_model) visit_arrays(*input.initial_model, ModelPrinter{print});
  return print.hex();
}

}  // namespace milieu::internal
