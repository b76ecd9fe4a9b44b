// SPDX-License-Identifier: Apache-2.0
// The ONNX Runtime library, loaded when it is first needed: only programs that run a network pay
// for it. Only files that are compiled with a runtime include this header.
#pragma once

#include <onnxruntime_c_api.h>

#include <memory>
#include <string>

namespace milieu::internal {

// Throws DataError that says what is missing.
const OrtApi& runtime_api();
// Such as 1.29.0.
std::string runtime_version();
// The library's one environment. It logs nothing.
const OrtEnv& runtime_env();

// What the runtime itself says about a failure.
class RuntimeFailure : public std::exception {
 public:
  explicit RuntimeFailure(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

// Throws RuntimeFailure unless the call succeeded.
void check_status(OrtStatus* status);

struct RuntimeDeleter {
  void operator()(OrtEnv* p) const { runtime_api().ReleaseEnv(p); }
  void operator()(OrtSession* p) const { runtime_api().ReleaseSession(p); }
  void operator()(OrtSessionOptions* p) const { runtime_api().ReleaseSessionOptions(p); }
  void operator()(OrtRunOptions* p) const { runtime_api().ReleaseRunOptions(p); }
  void operator()(OrtMemoryInfo* p) const { runtime_api().ReleaseMemoryInfo(p); }
  void operator()(OrtValue* p) const { runtime_api().ReleaseValue(p); }
  void operator()(OrtTypeInfo* p) const { runtime_api().ReleaseTypeInfo(p); }
  void operator()(OrtTensorTypeAndShapeInfo* p) const {
    runtime_api().ReleaseTensorTypeAndShapeInfo(p);
  }
};

// Objects of the runtime, released with their owner.
template <class T>
using Owned = std::unique_ptr<T, RuntimeDeleter>;

}  // namespace milieu::internal
