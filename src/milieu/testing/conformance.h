// SPDX-License-Identifier: Apache-2.0
// One shape for all methods, so that one suite of tests (tests/conformance) runs on each of them:
// what a method must do whatever it computes. A method joins with a few lines in
// tests/conformance/methods.cc:
//
//   ConformanceMethod m = conformance_method("kmeans", KMeansOptions{},
//       [](FloatView points, const KMeansOptions& options, Monitor& monitor) {
//         return fit_kmeans({points, {}, {}}, options, monitor);
//       });
//   m.direction = TraceDirection::Falls;
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "milieu/base/fields.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"
#include "milieu/store/model_file.h"
#include "milieu/testing/synthetic.h"

namespace milieu {

// What the suite sets for a run; a method without such an option does not see it.
struct ConformanceSettings {
  int num_clusters = 3;
  uint64_t seed = 1;
  int num_threads = 1;
};

struct ConformanceOutcome {
  std::vector<int> labels;
  RunSummary summary;
  ModelFile model;
  // Labels of other samples; empty where the method defines no prediction.
  std::function<std::vector<int>(FloatView)> predict;
  // The same with the model saved to `path` and loaded from there.
  std::function<std::vector<int>(const std::string& path, FloatView)> predict_from_file;
};

// How the objective moves from iteration to iteration.
enum class TraceDirection { Falls, Rises, Free };

struct ConformanceMethod {
  using Fit =
      std::function<ConformanceOutcome(FloatView, const ConformanceSettings&, Monitor& monitor)>;

  std::string name;
  Fit fit;
  // The same from `start` (num_clusters x d); empty where the method takes no given start.
  std::function<ConformanceOutcome(FloatView points, FloatView start, const ConformanceSettings&)>
      fit_from;
  // One run for each option value that breaks its declared range: its description, and a call that
  // must be refused with the option's name in the message.
  struct Refusal {
    std::string option;
    std::string value;
    std::function<void(FloatView)> run;
  };
  std::vector<Refusal> refusals;

  bool takes_num_clusters = true;    // set from the declared fields
  bool is_binary = false;            // samples are vectors of 0 and 1
  bool is_counts = false;            // samples are counts of words
  bool may_leave_out = false;        // label -1 occurs
  bool labels_in_a_pass = false;     // after a stop labels take another pass, for which there is
                                     // little time
  bool may_leave_empty = false;      // clusters that the data do not support stay empty
  bool separates_by_planes = false;  // one feature holds no more than two of its parts
  TraceDirection direction = TraceDirection::Free;
  int64_t num_samples = 3000;  // of the larger tests: several blocks, yet under a second

  // Well separated clusters of the kind that the method is for.
  LabelledPoints make_data(int64_t n, int64_t d, int num_clusters, uint64_t seed) const {
    if (is_binary)
      return make_binary_blobs({.n = n,
                                .d = 8 * d,
                                .num_clusters = num_clusters,
                                .flip_probability = 0.02,
                                .seed = seed});
    if (is_counts)
      return make_count_blobs({.n = n, .d = 8 * d, .num_clusters = num_clusters, .seed = seed});
    return make_blobs(
        {.n = n, .d = d, .num_clusters = num_clusters, .separation = 20, .seed = seed});
  }
};

// How GoogleTest shows a method in its messages.
inline void PrintTo(const ConformanceMethod& method, std::ostream* out) { *out << method.name; }

namespace internal {

// Sets the field called `name`; false when there is none.
bool set_field(const std::vector<Field>& fields, const std::string& name, const FieldValue& value);

// Values just outside the declared range of a number, and NaN for reals.
std::vector<FieldValue> values_out_of_range(const Field& field);

template <class Options>
Options with_settings(Options options, const ConformanceSettings& settings) {
  const std::vector<Field> fields = fields_of(options);
  set_field(fields, "num_clusters", int64_t{settings.num_clusters});
  set_field(fields, "seed", static_cast<int64_t>(settings.seed));
  set_field(fields, "num_threads", int64_t{settings.num_threads});
  return options;
}

template <class Result>
ConformanceOutcome to_outcome(Result result) {
  using Model = decltype(result.model);
  ConformanceOutcome outcome{std::move(result.labels), std::move(result.summary),
                             to_model_file(result.model), nullptr, nullptr};
  const auto model = std::make_shared<const Model>(std::move(result.model));
  if constexpr (requires { predict(*model, FloatView(), 1); }) {
    outcome.predict = [model](FloatView points) { return predict(*model, points, 1); };
    outcome.predict_from_file = [model](const std::string& path, FloatView points) {
      save_model(path, *model);
      return predict(load_model<Model>(path), points, 1);
    };
  }
  return outcome;
}

}  // namespace internal

// `fit(points, options, monitor)` returns the method's own result: labels, model, summary.
// `options` are the defaults of the runs.
template <class Options, class Fit>
ConformanceMethod conformance_method(std::string name, Options options, Fit fit) {
  ConformanceMethod method;
  method.name = std::move(name);
  method.fit = [=](FloatView points, const ConformanceSettings& settings, Monitor& monitor) {
    return internal::to_outcome(fit(points, internal::with_settings(options, settings), monitor));
  };
  Options probe = options;
  const std::vector<Field> fields = fields_of(probe);
  method.takes_num_clusters = internal::set_field(fields, "num_clusters", int64_t{1});
  for (const Field& field : fields) {
    for (const FieldValue& value : internal::values_out_of_range(field)) {
      const auto run = [=, key = field.name](FloatView points) {
        Options broken = options;
        internal::set_field(fields_of(broken), key, value);
        fit(points, broken, silent_monitor());
      };
      method.refusals.push_back({field.name, to_text(value), run});
    }
  }
  return method;
}

// The same for runs from a given start: `fit(points, start, options)`.
template <class Options, class Fit>
void add_given_start(ConformanceMethod& method, Options options, Fit fit) {
  method.fit_from = [=](FloatView points, FloatView start, const ConformanceSettings& settings) {
    return internal::to_outcome(fit(points, start, internal::with_settings(options, settings)));
  };
}

}  // namespace milieu
