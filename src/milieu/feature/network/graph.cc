// SPDX-License-Identifier: Apache-2.0
// The field numbers below are those of onnx.proto.
#include "milieu/feature/network/graph_internal.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "milieu/base/error.h"
#include "milieu/data/printable.h"
#include "milieu/feature/network/proto_internal.h"

namespace milieu::internal {
namespace {

constexpr int kMostNesting = 16;  // graphs within attributes of nodes

// Weights that are in a file of their own must be beside the model.
void check_location(const std::string& location, const std::string& path) {
  const std::filesystem::path place(location);
  const bool climbs = std::ranges::any_of(place, [](const auto& part) { return part == ".."; });
  if (location.empty() || place.is_absolute() || climbs)
    throw DataError(
        fmt::format("{} keeps its weights in '{}', must be a file in the model's own folder: "
                    "export it again with a plain file name",
                    path, printable(location)));
}

class GraphReader {
 public:
  explicit GraphReader(const std::string& path) : path_(path) {}

  Graph read_model(std::string_view bytes) {
    ProtoReader reader(bytes, path_);
    bool has_graph = false;
    while (const auto field = reader.next()) {
      if (field->number == 7) read_graph_message(field->bytes, 0), has_graph = true;
      if (field->number == 8) read_opset(field->bytes);
    }
    if (!has_graph || graph_.nodes.empty())
      throw DataError(fmt::format("{} is not an ONNX model: it has no nodes", path_));
    if (graph_.opsets.empty())
      throw DataError(
          fmt::format("{} is damaged: it does not say which operator set it was made for", path_));
    std::sort(graph_.weights.begin(), graph_.weights.end());
    std::erase_if(graph_.inputs, [&](const auto& in) { return graph_.is_weight(in.name); });
    graph_.external_files.assign(files_.begin(), files_.end());
    return std::move(graph_);
  }

 private:
  void read_opset(std::string_view bytes) {
    ProtoReader reader(bytes, path_);
    std::pair<std::string, int64_t> opset;
    while (const auto field = reader.next()) {
      if (field->number == 1) opset.first = field->bytes;
      if (field->number == 2) opset.second = static_cast<int64_t>(field->value);
    }
    graph_.opsets.push_back(opset);
  }

  // Of graphs within nodes only the weights count.
  void read_graph_message(std::string_view bytes, int depth) {
    if (depth > kMostNesting)
      throw DataError(fmt::format("{} has graphs nested deeper than {}", path_, kMostNesting));
    ProtoReader reader(bytes, path_);
    while (const auto field = reader.next()) {
      if (field->number == 1) read_node(field->bytes, depth);
      if (field->number == 5) read_tensor(field->bytes, depth);
      if (depth > 0) continue;
      if (field->number == 11) graph_.inputs.push_back(read_value_info(field->bytes));
      if (field->number == 12) graph_.outputs.push_back(read_value_info(field->bytes).name);
    }
  }

  void read_node(std::string_view bytes, int depth) {
    ProtoReader reader(bytes, path_);
    GraphNode node;
    while (const auto field = reader.next()) {
      if (field->number == 1) node.inputs.emplace_back(field->bytes);
      if (field->number == 2) node.outputs.emplace_back(field->bytes);
      if (field->number == 3) node.name = field->bytes;
      if (field->number == 4) node.op = field->bytes;
      if (field->number == 5) read_attribute(field->bytes, depth);
    }
    if (depth == 0) graph_.nodes.push_back(std::move(node));
  }

  void read_attribute(std::string_view bytes, int depth) {
    ProtoReader reader(bytes, path_);
    while (const auto field = reader.next()) {
      if (field->number == 5 || field->number == 10) read_tensor(field->bytes, depth + 1);
      if (field->number == 6 || field->number == 11) read_graph_message(field->bytes, depth + 1);
    }
  }

  void read_tensor(std::string_view bytes, int depth) {
    ProtoReader reader(bytes, path_);
    while (const auto field = reader.next()) {
      if (field->number == 8 && depth == 0) graph_.weights.emplace_back(field->bytes);
      if (field->number == 13) read_external(field->bytes);
    }
  }

  void read_external(std::string_view bytes) {
    ProtoReader reader(bytes, path_);
    std::string key, value;
    while (const auto field = reader.next()) {
      if (field->number == 1) key = field->bytes;
      if (field->number == 2) value = field->bytes;
    }
    if (key != "location") return;
    check_location(value, path_);
    files_.insert(value);
  }

  GraphInput read_value_info(std::string_view bytes) {
    GraphInput info;
    ProtoReader reader(bytes, path_);
    while (const auto field = reader.next()) {
      if (field->number == 1) info.name = field->bytes;
      if (field->number != 2) continue;
      ProtoReader type(field->bytes, path_);
      while (const auto kind = type.next())
        if (kind->number == 1) read_tensor_type(kind->bytes, info);
    }
    return info;
  }

  void read_tensor_type(std::string_view bytes, GraphInput& info) {
    ProtoReader reader(bytes, path_);
    while (const auto field = reader.next()) {
      if (field->number == 1) info.type = static_cast<int64_t>(field->value);
      if (field->number != 2) continue;
      ProtoReader shape(field->bytes, path_);
      while (const auto dim = shape.next())
        if (dim->number == 1) info.shape.push_back(read_dimension(dim->bytes));
    }
  }

  int64_t read_dimension(std::string_view bytes) {
    ProtoReader reader(bytes, path_);
    int64_t size = -1;
    while (const auto field = reader.next())
      if (field->number == 1) size = static_cast<int64_t>(field->value);
    return size > 0 ? size : -1;
  }

  const std::string& path_;
  Graph graph_;
  std::set<std::string> files_;
};

bool is_tail(const std::string& tensor, const std::string& name) {
  const size_t colons = tensor.rfind("::");
  return colons != std::string::npos && tensor.substr(colons + 2) == name;
}

// Operators between the pooling and the output of a network; they change no positions.
bool may_follow_pooling(const GraphNode& node, const Graph& graph) {
  static const std::set<std::string> plain = {
      "Identity", "Flatten", "Squeeze", "Unsqueeze",      "Reshape",          "Gemm",
      "Softmax",  "Cast",    "Dropout", "QuantizeLinear", "DequantizeLinear", "LpNormalization"};
  if (plain.contains(node.op)) return true;
  const bool is_head = node.op == "MatMul" || node.op == "Add";  // with weights, not two tensors
  return is_head && node.inputs.size() == 2 &&
         (graph.is_weight(node.inputs[0]) || graph.is_weight(node.inputs[1]));
}

const std::string& data_input(const GraphNode& node, const Graph& graph) {
  for (const std::string& name : node.inputs)
    if (!graph.is_weight(name)) return name;
  static const std::string none;
  return none;
}

}  // namespace

bool Graph::is_weight(const std::string& name) const {
  return std::binary_search(weights.begin(), weights.end(), name);
}

Graph read_graph(std::string_view bytes, const std::string& path) {
  return GraphReader(path).read_model(bytes);
}

std::string find_tensor(const Graph& graph, const std::string& layer, const std::string& path) {
  constexpr std::string_view kOpencv = "onnx_node!";
  const std::string name = layer.starts_with(kOpencv) ? layer.substr(kOpencv.size()) : layer;
  for (const GraphNode& node : graph.nodes)
    for (const std::string& output : node.outputs)
      if (!output.empty() && output == name) return output;
  for (const GraphNode& node : graph.nodes) {
    if (!name.empty() && node.name == name && !node.outputs.empty()) return node.outputs[0];
    for (const std::string& output : node.outputs)
      if (is_tail(output, name)) return output;
  }
  std::vector<std::string> last;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend() && last.size() < 6; ++node)
    last.push_back(node->name.empty() && !node->outputs.empty() ? node->outputs[0] : node->name);
  throw InvalidArgument(
      fmt::format("layer is '{}', but {} has no tensor or node of that name: its outputs are {}, "
                  "its last nodes {}",
                  layer, path, printable_list(graph.outputs), printable_list(last)));
}

std::string tensor_before_pooling(const Graph& graph) {
  static const std::set<std::string> pooling = {"GlobalAveragePool", "GlobalMaxPool", "ReduceMean",
                                                "Gather"};
  std::string tensor = graph.outputs.empty() ? "" : graph.outputs[0];
  // Nodes come in the order of computation: each is looked at once, from the last.
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (std::ranges::find(node->outputs, tensor) == node->outputs.end()) continue;
    if (pooling.contains(node->op)) return data_input(*node, graph);
    if (!may_follow_pooling(*node, graph)) return "";
    tensor = data_input(*node, graph);
  }
  return "";
}

// A message that occurs twice is merged by every reader of protocol buffers, its lists one after
// the other: a second `graph` with one output is enough.
std::string with_output(std::string_view model, const std::string& tensor) {
  return std::string(model) + proto_field(7, proto_field(12, proto_field(1, tensor)));
}

std::string opset_text(const Graph& graph) {
  std::vector<std::string> texts;
  for (const auto& [domain, version] : graph.opsets)
    texts.push_back(
        fmt::format("{} {}", domain.empty() || domain == "ai.onnx" ? "opset" : domain, version));
  return printable_list(texts);
}

}  // namespace milieu::internal
