// SPDX-License-Identifier: Apache-2.0
// A network that is ready to run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace milieu::internal {

// Numbers of any shape, row-major.
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> values;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
};

std::string shape_text(const std::vector<int64_t>& shape);  // "1 x 3 x 224 x 224"

// Runs one image at a time, each on the thread that asks: the numbers cannot depend on how many
// threads or images there are. One session serves all threads.
class Session {
 public:
  virtual ~Session() = default;
  // Numbers are converted to the type of the network's input, and those of its output to float.
  // Throws DataError with what the runtime says.
  virtual Tensor run(const Tensor& input) const = 0;
  // Ends the runs that are under way, and every later one, by an exception. Any thread may call it.
  virtual void stop() = 0;
};

// `model`: the bytes of an ONNX file, weights of its own files are in `folder`; `output`: the
// tensor that is wanted. Throws DataError with what the runtime says.
std::unique_ptr<Session> open_session(std::string_view model, const std::string& folder,
                                      const std::string& output);

// "ONNX Runtime 1.29.0". Loads the library; throws an Error that says why there is none.
std::string runtime_name();

}  // namespace milieu::internal
