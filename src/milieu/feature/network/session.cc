// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/network/session_internal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/feature/network/half_internal.h"
#include "milieu/feature/network/runtime_internal.h"

namespace milieu::internal {
namespace {

// What a function of the runtime makes; its last argument says where to put it.
template <class T, class Make>
Owned<T> make_owned(Make make) {
  T* made = nullptr;
  check_status(make(&made));
  return Owned<T>(made);
}

// One thread per run: images are worked on in parallel instead.
Owned<OrtSessionOptions> make_options(const std::string& folder) {
  const OrtApi& api = runtime_api();
  Owned<OrtSessionOptions> options =
      make_owned<OrtSessionOptions>([&](auto** made) { return api.CreateSessionOptions(made); });
  check_status(api.SetIntraOpNumThreads(options.get(), 1));
  check_status(api.SetInterOpNumThreads(options.get(), 1));
  check_status(api.SetSessionExecutionMode(options.get(), ORT_SEQUENTIAL));
  check_status(api.SetSessionGraphOptimizationLevel(options.get(), ORT_ENABLE_ALL));
  check_status(api.SetSessionLogSeverityLevel(options.get(), ORT_LOGGING_LEVEL_FATAL));
  check_status(api.AddSessionConfigEntry(
      options.get(), "session.model_external_initializers_file_folder_path", folder.c_str()));
  return options;
}

std::vector<int64_t> shape_of(const OrtTensorTypeAndShapeInfo* info) {
  size_t rank = 0;
  check_status(runtime_api().GetDimensionsCount(info, &rank));
  std::vector<int64_t> shape(rank);
  check_status(runtime_api().GetDimensions(info, shape.data(), rank));
  return shape;
}

ONNXTensorElementDataType type_of(const OrtTensorTypeAndShapeInfo* info) {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  check_status(runtime_api().GetTensorElementType(info, &type));
  return type;
}

template <class T>
void copy_as_float(const void* data, std::vector<float>& out) {
  std::transform(static_cast<const T*>(data), static_cast<const T*>(data) + out.size(), out.begin(),
                 [](T value) { return static_cast<float>(value); });
}

void copy_values(ONNXTensorElementDataType type, const void* data, std::vector<float>& out) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      return copy_as_float<float>(data, out);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
      return copy_as_float<double>(data, out);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
      return copy_as_float<uint8_t>(data, out);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
      return copy_as_float<int8_t>(data, out);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
      return copy_as_float<int32_t>(data, out);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      return copy_as_float<int64_t>(data, out);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
      std::transform(static_cast<const uint16_t*>(data),
                     static_cast<const uint16_t*>(data) + out.size(), out.begin(), from_half);
      return;
    default:
      throw RuntimeFailure("its output is not made of numbers");
  }
}

Tensor to_tensor(const OrtValue* value) {
  const OrtApi& api = runtime_api();
  const auto info = make_owned<OrtTensorTypeAndShapeInfo>(
      [&](auto** made) { return api.GetTensorTypeAndShape(value, made); });
  Tensor out;
  out.shape = shape_of(info.get());
  size_t count = 0;
  check_status(api.GetTensorShapeElementCount(info.get(), &count));
  out.values.resize(count);
  void* data = nullptr;
  check_status(api.GetTensorMutableData(const_cast<OrtValue*>(value), &data));  // only reads
  copy_values(type_of(info.get()), data, out.values);
  return out;
}

// The input in the network's own type; the runtime reads it where it is.
class InputBuffer {
 public:
  InputBuffer(const Tensor& input, ONNXTensorElementDataType type) {
    const void* data = input.values.data();
    size_t bytes = sizeof(float) * input.values.size();
    if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16) {
      halves_.resize(input.values.size());
      std::transform(input.values.begin(), input.values.end(), halves_.begin(), to_half);
      data = halves_.data(), bytes = sizeof(uint16_t) * halves_.size();
    } else if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8) {
      for (const float value : input.values)
        bytes_.push_back(static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L)));
      data = bytes_.data(), bytes = bytes_.size();
    }
    const OrtApi& api = runtime_api();
    memory_ = make_owned<OrtMemoryInfo>([&](auto** made) {
      return api.CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, made);
    });
    value_ = make_owned<OrtValue>([&](auto** made) {
      return api.CreateTensorWithDataAsOrtValue(memory_.get(), const_cast<void*>(data), bytes,
                                                input.shape.data(), input.shape.size(), type, made);
    });
  }

  const OrtValue* value() const { return value_.get(); }

 private:
  std::vector<uint16_t> halves_;
  std::vector<uint8_t> bytes_;
  Owned<OrtMemoryInfo> memory_;
  Owned<OrtValue> value_;
};

class RuntimeSession : public Session {
 public:
  RuntimeSession(std::string_view model, const std::string& folder, std::string output)
      : output_(std::move(output)) {
    const OrtApi& api = runtime_api();
    const Owned<OrtSessionOptions> options = make_options(folder);
    session_ = make_owned<OrtSession>([&](auto** made) {
      return api.CreateSessionFromArray(&runtime_env(), model.data(), model.size(), options.get(),
                                        made);
    });
    run_options_ =
        make_owned<OrtRunOptions>([&](auto** made) { return api.CreateRunOptions(made); });
    read_input();
  }

  void stop() override { check_status(runtime_api().RunOptionsSetTerminate(run_options_.get())); }

  Tensor run(const Tensor& input) const override {
    try {
      const InputBuffer buffer(input, input_type_);
      const OrtValue* in = buffer.value();
      const char *in_name = input_.c_str(), *out_name = output_.c_str();
      const auto out = make_owned<OrtValue>([&](auto** made) {
        return runtime_api().Run(session_.get(), run_options_.get(), &in_name, &in, 1, &out_name, 1,
                                 made);
      });
      return to_tensor(out.get());
    } catch (const RuntimeFailure& failure) {
      throw DataError(failure.what());
    }
  }

 private:
  void read_input() {
    const OrtApi& api = runtime_api();
    OrtAllocator* allocator = nullptr;
    check_status(api.GetAllocatorWithDefaultOptions(&allocator));
    char* name = nullptr;
    check_status(api.SessionGetInputName(session_.get(), 0, allocator, &name));
    input_ = name;
    check_status(api.AllocatorFree(allocator, name));
    const auto type = make_owned<OrtTypeInfo>(
        [&](auto** made) { return api.SessionGetInputTypeInfo(session_.get(), 0, made); });
    const OrtTensorTypeAndShapeInfo* info = nullptr;
    check_status(api.CastTypeInfoToTensorInfo(type.get(), &info));
    if (!info) throw RuntimeFailure("its input is not a tensor");
    input_type_ = type_of(info);
  }

  Owned<OrtSession> session_;
  Owned<OrtRunOptions> run_options_;
  std::string input_, output_;
  ONNXTensorElementDataType input_type_ = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
};

}  // namespace

std::unique_ptr<Session> open_session(std::string_view model, const std::string& folder,
                                      const std::string& output) {
  try {
    return std::make_unique<RuntimeSession>(model, folder, output);
  } catch (const RuntimeFailure& failure) {
    throw DataError(failure.what());
  }
}

std::string runtime_name() { return "ONNX Runtime " + runtime_version(); }

}  // namespace milieu::internal
