// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/network/graph_internal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/feature/network/test_network.h"

namespace milieu::internal {
namespace {

using test_network::model;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string pooled() {
  return model({{"Relu", {"x"}, {"a"}, {}, "first"},
                {"Relu", {"a"}, {"onnx::Relu_7"}},
                {"GlobalAveragePool", {"onnx::Relu_7"}, {"p"}},
                {"Flatten", {"p"}, {"y"}}},
               {-1, 3, 8, 6}, proto_field(5, proto_field(8, "w")));
}

TEST(Graph, HasTheNodesInputsAndOutputsOfTheFile) {
  const Graph graph = read_graph(pooled(), "net.onnx");
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.inputs[0].name, "x");
  EXPECT_EQ(graph.inputs[0].type, 1);
  EXPECT_THAT(graph.inputs[0].shape, ElementsAre(-1, 3, 8, 6));
  EXPECT_THAT(graph.outputs, ElementsAre("y"));
  EXPECT_EQ(graph.nodes.size(), 4u);
  EXPECT_EQ(graph.nodes[0].op, "Relu");
  EXPECT_TRUE(graph.is_weight("w"));
  EXPECT_EQ(opset_text(graph), "opset 13");
}

TEST(Graph, WeightsAmongTheInputsAreNotInputs) {
  const std::string bytes = model(
      {{"Conv", {"x", "w"}, {"y"}}}, {1, 3, 8, 8},
      proto_field(5, proto_field(8, "w")) + proto_field(11, test_network::value_info("w", {1})));
  ASSERT_EQ(read_graph(bytes, "net.onnx").inputs.size(), 1u);
  EXPECT_EQ(read_graph(bytes, "net.onnx").inputs[0].name, "x");
}

TEST(Graph, LayersAreFoundByTensorByNodeAndByOpencvsNames) {
  const Graph graph = read_graph(pooled(), "net.onnx");
  EXPECT_EQ(find_tensor(graph, "p", "net.onnx"), "p");
  EXPECT_EQ(find_tensor(graph, "first", "net.onnx"), "a");
  EXPECT_EQ(find_tensor(graph, "onnx_node!first", "net.onnx"), "a");
  EXPECT_EQ(find_tensor(graph, "Relu_7", "net.onnx"), "onnx::Relu_7");
  EXPECT_THAT([&] { find_tensor(graph, "nope", "net.onnx"); },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("layer is 'nope'"),
                                                   HasSubstr("its outputs are y"),
                                                   HasSubstr("its last nodes y, p"))));
}

TEST(Graph, TheMapBeforeThePoolingIsFoundBehindTheHead) {
  EXPECT_EQ(tensor_before_pooling(read_graph(pooled(), "n")), "onnx::Relu_7");
  const std::string weight = proto_field(5, proto_field(8, "w"));
  const auto tokens = model({{"LayerNormalization", {"x", "w"}, {"t"}},
                             {"Gather", {"t", "w"}, {"c"}},
                             {"MatMul", {"c", "w"}, {"m"}},
                             {"Add", {"w", "m"}, {"y"}}},
                            {1, 3, 8, 8}, weight);
  EXPECT_EQ(tensor_before_pooling(read_graph(tokens, "n")), "t");
  // A residual sum is not a head, and a map is already there.
  const auto residual =
      model({{"GlobalAveragePool", {"x"}, {"p"}}, {"Add", {"p", "x"}, {"y"}}}, {1, 3, 8, 8});
  EXPECT_EQ(tensor_before_pooling(read_graph(residual, "n")), "");
  // A cycle ends the search.
  const auto cycle = model({{"Identity", {"y"}, {"z"}}, {"Identity", {"z"}, {"y"}}}, {1, 3, 8, 8});
  EXPECT_EQ(tensor_before_pooling(read_graph(cycle, "n")), "");
}

TEST(Graph, AnyTensorMayBecomeAnOutput) {
  EXPECT_THAT(read_graph(with_output(pooled(), "a"), "n").outputs, ElementsAre("y", "a"));
}

TEST(Graph, WeightsOutsideTheFolderOfTheModelAreRefused) {
  const auto with_location = [](const std::string& place) {
    const std::string entry = proto_field(1, "location") + proto_field(2, place);
    return model({{"Conv", {"x", "w"}, {"y"}}}, {1, 3, 8, 8},
                 proto_field(5, proto_field(8, "w") + proto_field(13, entry)));
  };
  EXPECT_THAT(read_graph(with_location("net.data"), "n").external_files, ElementsAre("net.data"));
  for (const char* place : {"../secret", "/etc/passwd", "a/../../b", ""})
    EXPECT_THAT([&] { read_graph(with_location(place), "net.onnx"); },
                ThrowsMessage<DataError>(HasSubstr("must be a file in the model's own folder")))
        << place;
}

TEST(Graph, DamagedFilesAreRefusedAndNeverCrash) {
  const std::string whole = pooled();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW(read_graph(whole.substr(0, size), "net.onnx"), DataError) << size;
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 3; ++i)
      bytes[random.next_bits() % bytes.size()] = static_cast<char>(random.next_bits());
    try {
      const Graph graph = read_graph(bytes, "net.onnx");
      tensor_before_pooling(graph);
    } catch (const Error&) {
    }
  }
}

TEST(Graph, NestingIsLimited) {
  std::string graph = proto_field(1, test_network::node({"Relu", {"x"}, {"y"}}));
  for (int depth = 0; depth < 40; ++depth)
    graph = proto_field(1, proto_field(5, proto_field(6, graph)));
  EXPECT_THAT([&] { read_graph(proto_field(7, graph), "net.onnx"); },
              ThrowsMessage<DataError>(HasSubstr("nested deeper than 16")));
}

}  // namespace
}  // namespace milieu::internal
