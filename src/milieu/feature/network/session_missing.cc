// SPDX-License-Identifier: Apache-2.0
// Compiled in place of session.cc and runtime.cc where there is no ONNX Runtime.
#include "milieu/base/error.h"
#include "milieu/feature/network/session_internal.h"

namespace milieu::internal {
namespace {

constexpr const char* kMissing =
    "this Milieu was built without ONNX Runtime, which runs networks: run scripts/setup and build "
    "again, or compute the vectors elsewhere and give them as --vectors FILE (docs/embeddings.md)";

}  // namespace

std::unique_ptr<Session> open_session(std::string_view, const std::string&, const std::string&) {
  throw InvalidArgument(kMissing);
}

std::string runtime_name() { throw InvalidArgument(kMissing); }

}  // namespace milieu::internal
