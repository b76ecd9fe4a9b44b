// SPDX-License-Identifier: Apache-2.0
// Small ONNX networks for tests, made byte by byte.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "milieu/feature/network/proto_internal.h"

namespace milieu::test_network {

using internal::proto_field;
using internal::proto_number;

struct Node {
  std::string op;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, std::vector<int64_t>> ints = {};
  std::string name = {};
};

// Sizes below 1 are free.
inline std::string value_info(const std::string& name, const std::vector<int64_t>& shape,
                              int type = 1) {
  std::string dims;
  for (const int64_t size : shape)
    dims += proto_field(
        1, size > 0 ? proto_number(1, static_cast<uint64_t>(size)) : proto_field(2, "N"));
  const std::string tensor = proto_number(1, static_cast<uint64_t>(type)) + proto_field(2, dims);
  return proto_field(1, name) + proto_field(2, proto_field(1, tensor));
}

inline std::string node(const Node& node) {
  std::string bytes;
  for (const std::string& name : node.inputs) bytes += proto_field(1, name);
  for (const std::string& name : node.outputs) bytes += proto_field(2, name);
  bytes += proto_field(3, node.name) + proto_field(4, node.op);
  for (const auto& [name, values] : node.ints) {
    std::string attribute = proto_field(1, name);
    for (const int64_t value : values) attribute += proto_number(8, static_cast<uint64_t>(value));
    bytes += proto_field(5, attribute + proto_number(20, 7));
  }
  return bytes;
}

// From the input `x` to the output `y`, whose shape is left to the runtime. `more`: further fields
// of the graph.
inline std::string model(const std::vector<Node>& nodes, const std::vector<int64_t>& shape,
                         const std::string& more = {}, int type = 1) {
  std::string graph;
  for (const Node& each : nodes) graph += proto_field(1, node(each));
  graph += proto_field(2, "g") + more + proto_field(11, value_info("x", shape, type)) +
           proto_field(12, proto_field(1, "y"));
  return proto_number(1, 8) + proto_field(7, graph) +
         proto_field(8, proto_field(1, "") + proto_number(2, 13));
}

}  // namespace milieu::test_network
