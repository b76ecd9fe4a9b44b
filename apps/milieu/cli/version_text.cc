// SPDX-License-Identifier: Apache-2.0
#include "cli/version_text.h"

#include <fmt/format.h>

#include "build_commit.h"  // written by cmake/write_commit.cmake
#include "milieu/base/summary.h"

namespace milieu::cli {

namespace {

#ifdef MILIEU_HAS_EXPLORER
constexpr const char* kExplorer = "explorer";
#else
constexpr const char* kExplorer = "no explorer";
#endif

#ifdef MILIEU_ENABLE_ASSERT
constexpr const char* kAssert = "assertions";
#else
constexpr const char* kAssert = "no assertions";
#endif

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "gcc " __VERSION__;
#endif

}  // namespace

std::string version_text() {
  return fmt::format("milieu {}\ncommit  {}\nbuilt   {} by {}\nwith    {}, {}, {}, {}\n", version(),
                     MILIEU_COMMIT, MILIEU_BUILD_TYPE, kCompiler, kExplorer, MILIEU_ONNX_KIND,
                     MILIEU_LIBRARY_KIND, kAssert);
}

}  // namespace milieu::cli
