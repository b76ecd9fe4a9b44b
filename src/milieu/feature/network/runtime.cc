// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "milieu/base/error.h"
#include "milieu/feature/network/runtime_internal.h"

namespace milieu::internal {
namespace {

// Only functions that this version and all later ones have are called.
constexpr uint32_t kApiVersion = 17;

struct Runtime {
  const OrtApi* api = nullptr;
  std::string version;
};

// What MILIEU_ONNXRUNTIME names, else the library that CMake found: a system's by its path, a
// bundled one by its name along the program's run path.
Runtime load_runtime() {
  const char* given = std::getenv("MILIEU_ONNXRUNTIME");
  const std::string name = given && *given ? given : MILIEU_ONNXRUNTIME;
  void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw DataError(
        fmt::format("ONNX Runtime, which runs networks, cannot be loaded: {}; name the library by "
                    "MILIEU_ONNXRUNTIME=FILE, or install Milieu again (make install)",
                    ::dlerror()));
  using GetBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetBase>(::dlsym(library, "OrtGetApiBase"));
  const OrtApiBase* base = get_base ? get_base() : nullptr;
  const OrtApi* api = base ? base->GetApi(kApiVersion) : nullptr;
  if (!api) throw DataError(fmt::format("{} is not ONNX Runtime 1.{} or later", name, kApiVersion));
  return {api, base->GetVersionString()};
}

const Runtime& runtime() {
  static const Runtime loaded = load_runtime();
  return loaded;
}

void ORT_API_CALL drop_message(void*, OrtLoggingLevel, const char*, const char*, const char*,
                               const char*) {}

}  // namespace

const OrtApi& runtime_api() { return *runtime().api; }

std::string runtime_version() { return runtime().version; }

void check_status(OrtStatus* status) {
  if (!status) return;
  std::string text = runtime_api().GetErrorMessage(status);
  runtime_api().ReleaseStatus(status);
  throw RuntimeFailure(std::move(text));
}

const OrtEnv& runtime_env() {
  static const Owned<OrtEnv> env = [] {
    OrtEnv* made = nullptr;
    check_status(runtime_api().CreateEnvWithCustomLogger(drop_message, nullptr,
                                                         ORT_LOGGING_LEVEL_FATAL, "milieu", &made));
    return Owned<OrtEnv>(made);
  }();
  return *env;
}

}  // namespace milieu::internal
