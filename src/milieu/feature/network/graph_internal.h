// SPDX-License-Identifier: Apache-2.0
// What Milieu itself must know of an ONNX file before a runtime sees it: its input, its nodes and
// their names, the operator sets it needs, the files that hold its weights.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace milieu::internal {

struct GraphNode {
  std::string name, op;
  std::vector<std::string> inputs, outputs;
};

// An input that is not a weight.
struct GraphInput {
  std::string name;
  int64_t type = 0;            // TensorProto.DataType: 1 float, 2 uint8, 10 float16
  std::vector<int64_t> shape;  // -1: any
};

struct Graph {
  std::vector<std::pair<std::string, int64_t>> opsets;  // domain ("": ONNX itself) and version
  std::vector<GraphNode> nodes;
  std::vector<GraphInput> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> weights;         // names of initializers, sorted
  std::vector<std::string> external_files;  // beside the model, sorted

  bool is_weight(const std::string& name) const;
};

// Reads the bytes of an ONNX file; `path` is for messages. Throws DataError when they are not a
// model, or when it names weights outside its own folder.
Graph read_graph(std::string_view bytes, const std::string& path);

// The tensor that `layer` means: the name of a tensor (what follows its last "::" will do), or of a
// node, whose first output it is. OpenCV's spelling "onnx_node!NODE" is understood. Throws
// InvalidArgument that lists what there is.
std::string find_tensor(const Graph& graph, const std::string& layer, const std::string& path);

// The last map or tokens of a network that ends in one vector: what its pooling, or its choice of
// the class token, takes. "" where the output is not made that way.
std::string tensor_before_pooling(const Graph& graph);

// The model with one more output, the tensor of that name.
std::string with_output(std::string_view model, const std::string& tensor);

// "opset 17", or "opset 17, com.microsoft 1".
std::string opset_text(const Graph& graph);

}  // namespace milieu::internal
