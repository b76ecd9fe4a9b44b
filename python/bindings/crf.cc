// SPDX-License-Identifier: Apache-2.0
// Latent high-order CRFs: graphs made in Python, potentials of the library or of Python, training.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <optional>

#include "arrays.h"
#include "crf_callbacks.h"
#include "method.h"
#include "milieu/base/error.h"
#include "milieu/crf/graph.h"
#include "milieu/crf/graph_example.h"
#include "milieu/crf/train.h"
#include "modules.h"

namespace milieu::python {

namespace {

using FactorPointer = std::shared_ptr<const CrfFactor>;

// A number, or (constant, {weight: coefficient}).
LinearCost cost_from(py::handle value, int num_weights) {
  LinearCost cost;
  if (!py::isinstance<py::tuple>(value)) return constant_cost(py::cast<double>(value));
  const auto pair = py::cast<py::tuple>(value);
  if (pair.size() != 2)
    throw InvalidArgument("a cost must be a number, or (constant, {weight: coefficient})");
  cost.constant = py::cast<double>(pair[0]);
  for (const auto& [index, coefficient] : py::cast<py::dict>(pair[1])) {
    const int weight = py::cast<int>(index);
    if (weight < 0 || weight >= num_weights)
      throw InvalidArgument(
          fmt::format("a cost names weight {}, the graph has {}", weight, num_weights));
    cost.terms.emplace_back(weight, py::cast<double>(coefficient));
  }
  return cost;
}

std::vector<LinearCost> costs_from(const py::iterable& values, int num_weights) {
  std::vector<LinearCost> costs;
  for (const py::handle value : values) costs.push_back(cost_from(value, num_weights));
  return costs;
}

// A potential written in Python: value(labels, w), gradient(labels) and, where it is not small
// enough to be enumerated, minimise(unaries, w). Called from any thread.
class PythonFactor : public CrfFactor {
 public:
  PythonFactor(py::object object, std::vector<int> variables, std::vector<int> num_labels)
      : CrfFactor(std::move(variables), std::move(num_labels)), object_(std::move(object)) {}
  ~PythonFactor() override {
    const py::gil_scoped_acquire acquire;
    object_ = py::object();
  }

  double value(std::span<const int> labels, std::span<const double> w) const override {
    const py::gil_scoped_acquire acquire;
    return py::cast<double>(object_.attr("value")(list_of(labels), array_of(w)));
  }

  void add_gradient(std::span<const int> labels, double factor,
                    std::span<double> gradient) const override {
    const py::gil_scoped_acquire acquire;
    const auto slope = py::cast<py::array_t<double, py::array::c_style | py::array::forcecast>>(
        object_.attr("gradient")(list_of(labels)));
    if (slope.ndim() != 1 || static_cast<size_t>(slope.size()) != gradient.size())
      throw InvalidArgument(fmt::format("gradient() gave {} numbers, must give one per weight: {}",
                                        slope.size(), gradient.size()));
    for (size_t i = 0; i < gradient.size(); ++i) gradient[i] += factor * slope.data()[i];
  }

  double minimise(const CrfUnaries& unaries, std::span<const double> w,
                  std::span<int> labels) const override {
    const py::gil_scoped_acquire acquire;
    if (!py::hasattr(object_, "minimise")) return CrfFactor::minimise(unaries, w, labels);
    const auto found =
        py::cast<std::vector<int>>(object_.attr("minimise")(py::cast(unaries), array_of(w)));
    check_labels(found);
    double sum = value(found, w);
    for (size_t i = 0; i < found.size(); ++i) sum += unaries[i][static_cast<size_t>(found[i])];
    std::copy(found.begin(), found.end(), labels.begin());
    return sum;
  }

 private:
  static py::list list_of(std::span<const int> labels) {
    py::list list;
    for (const int label : labels) list.append(label);
    return list;
  }
  static py::array_t<double> array_of(std::span<const double> w) {
    return py::array_t<double>(static_cast<py::ssize_t>(w.size()), w.data());
  }
  void check_labels(const std::vector<int>& labels) const {
    bool is_valid = labels.size() == variables().size();
    for (size_t i = 0; is_valid && i < labels.size(); ++i)
      is_valid = labels[i] >= 0 && labels[i] < num_labels()[i];
    if (!is_valid)
      throw InvalidArgument("minimise() must give one label of each variable of the factor");
  }

  py::object object_;
};

// A graph under construction, with the number of weights its costs may name.
struct Graph {
  CrfGraph graph;
  int num_weights = 0;

  std::vector<int> num_labels_of(const std::vector<int>& variables) const {
    std::vector<int> counts;
    for (const int variable : variables) {
      if (variable < 0 || variable >= graph.num_variables())
        throw InvalidArgument(fmt::format("there is no variable {}: the graph has {}", variable,
                                          graph.num_variables()));
      counts.push_back(graph.num_labels(variable));
    }
    return counts;
  }

  FactorPointer potts(int first, int second, py::handle cost) const {
    const std::vector<int> counts = num_labels_of({first, second});
    if (counts[0] != counts[1])
      throw InvalidArgument("a Potts factor needs two variables of the same number of labels");
    return std::make_shared<PottsFactor>(first, second, counts[0], cost_from(cost, num_weights));
  }
  FactorPointer pn(const std::vector<int>& variables, const py::iterable& agree,
                   py::handle differ) const {
    num_labels_of(variables);
    return std::make_shared<PnFactor>(variables, costs_from(agree, num_weights),
                                      cost_from(differ, num_weights));
  }
  FactorPointer count(const std::vector<int>& variables, const py::iterable& costs) const {
    for (const int labels : num_labels_of(variables))
      if (labels != 2) throw InvalidArgument("a count factor needs variables of two labels");
    return std::make_shared<CountFactor>(variables, costs_from(costs, num_weights));
  }
  FactorPointer robust_pn(int choice, const std::vector<int>& members, py::handle disagree,
                          py::handle none) const {
    num_labels_of(members);
    return std::make_shared<LatentPnFactor>(choice, members, num_labels_of({choice})[0] - 1,
                                            cost_from(disagree, num_weights),
                                            cost_from(none, num_weights));
  }
  FactorPointer table(const std::vector<int>& variables, const py::iterable& costs) const {
    return std::make_shared<TableFactor>(variables, num_labels_of(variables),
                                         costs_from(costs, num_weights));
  }
  FactorPointer python(py::object object, const std::vector<int>& variables) const {
    return std::make_shared<PythonFactor>(std::move(object), variables, num_labels_of(variables));
  }
};

std::vector<double> weights_from(py::handle w, int num_weights) {
  Arrays arrays;
  const std::span<const double> values = arrays.numbers(w, "w");
  if (static_cast<int>(values.size()) != num_weights)
    throw InvalidArgument(
        fmt::format("w has {} entries, the graph has {} weights", values.size(), num_weights));
  return {values.begin(), values.end()};
}

py::dict minimise(const Graph& graph, py::handle w, int max_rounds) {
  const std::vector<double> weights = weights_from(w, graph.num_weights);
  CrfSolution solution;
  run_work(control_from(py::dict()), [&](Monitor& monitor) {
    solution = minimise_crf(graph.graph, weights, max_rounds, 1, monitor);
  });
  py::dict out;
  out["labels"] = to_array(std::move(solution.labels));
  out["energy"] = solution.energy;
  out["lower_bound"] = solution.bound;
  out["n_iter"] = solution.rounds;
  return out;
}

// The graph of an example with a margin for every observed variable that has another label.
CrfGraph with_margin(CrfGraph graph, const std::vector<int>& observed, double margin) {
  for (size_t i = 0; i < observed.size(); ++i)
    if (observed[i] >= 0) graph.add_to_wrong_labels(static_cast<int>(i), observed[i], -margin);
  return graph;
}

// `lowest` is -1 where variables may be latent, else 0.
std::vector<int> labels_from(py::handle labels, const Graph& graph, int lowest) {
  Arrays arrays;
  const std::span<const int> values = arrays.integers(labels, "labels");
  if (static_cast<int>(values.size()) != graph.graph.num_variables())
    throw InvalidArgument(fmt::format("labels has {} entries, the graph has {} variables",
                                      values.size(), graph.graph.num_variables()));
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] < lowest || values[i] >= graph.graph.num_labels(static_cast<int>(i)))
      throw InvalidArgument(fmt::format("variable {} has the label {}, must be between {} and {}",
                                        i, values[i], lowest,
                                        graph.graph.num_labels(static_cast<int>(i)) - 1));
  return {values.begin(), values.end()};
}

// Examples are pairs (graph, labels); labels are -1 where latent. Callbacks may be None.
py::dict train(const py::list& examples, const py::dict& options, py::handle start, double margin,
               const py::dict& callbacks, const py::dict& control) {
  const auto values = options_from<CrfTrainOptions>(options);
  std::vector<std::unique_ptr<GraphExample>> kept;
  CrfTrainInput input;
  input.price = price_from(callbacks["regularizer_function"]);
  input.project = projection_from(callbacks["projection_function"]);
  for (const py::handle example : examples) {
    const auto pair = py::cast<py::tuple>(example);
    const auto& graph = py::cast<const Graph&>(pair[0]);
    if (input.start.empty()) input.start = weights_from(start, graph.num_weights);
    if (static_cast<int>(input.start.size()) != graph.num_weights)
      throw InvalidArgument("the graphs have different numbers of weights: they must match");
    const std::vector<int> observed = labels_from(pair[1], graph, -1);
    kept.push_back(
        std::make_unique<GraphExample>(with_margin(graph.graph, observed, margin), observed));
    input.examples.push_back(kept.back().get());
  }
  const CrfTrainResult result =
      run_fit(control, [&](Monitor& monitor) { return train_latent_crf(input, values, monitor); });
  py::list trace;
  for (const CrfRound& round : result.rounds) trace.append(round.objective);
  py::list completed;
  for (const auto& example : kept) completed.append(to_array(std::vector<int>(example->labels())));
  py::dict out;
  out["weights"] = to_array(std::vector<double>(result.weights));
  out["last_weights"] = to_array(std::vector<double>(result.last_weights));
  out["trace"] = trace;
  out["lower_bound"] = result.rounds.empty() ? 0.0 : result.rounds.back().bound;
  out["termination"] = to_string(result.termination);
  out["labels"] = completed;
  return out;
}

}  // namespace

void bind_crf(py::module_& m) {
  py::class_<CrfFactor, std::shared_ptr<CrfFactor>>(m, "crf_factor")
      .def_property_readonly("variables", &CrfFactor::variables);
  const auto keep = [](const FactorPointer& factor) {
    return std::const_pointer_cast<CrfFactor>(factor);
  };
  const auto add_slave = [](auto kind) {
    using Slave = typename decltype(kind)::type;
    return [](Graph& g, const std::vector<std::shared_ptr<CrfFactor>>& factors) {
      g.graph.add_slave(
          std::make_shared<Slave>(std::vector<FactorPointer>(factors.begin(), factors.end())));
    };
  };
  py::class_<Graph>(m, "crf_graph")
      .def(py::init([](int num_weights) {
        return Graph{{}, num_weights};
      }))
      .def_readonly("n_weights", &Graph::num_weights)
      .def_property_readonly("n_variables", [](const Graph& g) { return g.graph.num_variables(); })
      .def("add_variable",
           [](Graph& g, const py::iterable& costs) {
             return g.graph.add_variable(costs_from(costs, g.num_weights));
           })
      .def("potts", [keep](const Graph& g, int a, int b,
                           py::handle cost) { return keep(g.potts(a, b, cost)); })
      .def("pn",
           [keep](const Graph& g, const std::vector<int>& variables, const py::iterable& agree,
                  py::handle differ) { return keep(g.pn(variables, agree, differ)); })
      .def("count", [keep](const Graph& g, const std::vector<int>& variables,
                           const py::iterable& costs) { return keep(g.count(variables, costs)); })
      .def("robust_pn",
           [keep](const Graph& g, int choice, const std::vector<int>& members, py::handle disagree,
                  py::handle none) { return keep(g.robust_pn(choice, members, disagree, none)); })
      .def("table", [keep](const Graph& g, const std::vector<int>& variables,
                           const py::iterable& costs) { return keep(g.table(variables, costs)); })
      .def("python",
           [keep](const Graph& g, py::object object, const std::vector<int>& variables) {
             return keep(g.python(std::move(object), variables));
           })
      .def("add_clique",
           [](Graph& g, const std::shared_ptr<CrfFactor>& factor) { g.graph.add_clique(factor); })
      .def("add_tree", add_slave(std::type_identity<TreeSlave>()))
      .def("add_cut", add_slave(std::type_identity<CutSlave>()))
      .def("energy",
           [](const Graph& g, py::handle labels, py::handle w) {
             return g.graph.energy(labels_from(labels, g, 0), weights_from(w, g.num_weights));
           })
      .def("minimise", &minimise);
  bind_declaration<CrfTrainOptions, CrfTrainInput>(m, "crf");
  m.def("crf_train", &train);
}

}  // namespace milieu::python
