// SPDX-License-Identifier: Apache-2.0
// What Milieu itself reads of a network; the runtime reads the rest in a child process.
#include "fuzz_target.h"
#include "milieu/feature/network/graph_internal.h"       // private: the parser that is fuzzed
#include "milieu/feature/network/preprocess_internal.h"  // private: likewise

namespace milieu {
namespace {

const RegisterFuzzTarget kRegistered("onnx", [](std::span<const std::byte> input) {
  const std::string_view bytes(reinterpret_cast<const char*>(input.data()), input.size());
  const internal::Graph graph = internal::read_graph(bytes, "fuzz.onnx");
  check_promise(!graph.nodes.empty(), "nodes");
  const std::string tensor = internal::tensor_before_pooling(graph);
  const internal::Graph more =
      internal::read_graph(internal::with_output(bytes, tensor), "fuzz.onnx");
  check_promise(more.outputs.size() == graph.outputs.size() + 1, "outputs");
  const internal::Preprocessing how = internal::make_preprocessing({}, {}, graph, "fuzz.onnx");
  const internal::Placement place = internal::place_image(how, 300, 7);
  check_promise(place.box.left >= 0 && place.box.left + how.width <= place.width, "box");
});

}  // namespace
}  // namespace milieu
