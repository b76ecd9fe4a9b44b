// SPDX-License-Identifier: Apache-2.0
// The text of --feature: what is accepted is written and read back the same.
#include "fuzz_target.h"
#include "milieu/feature/feature_spec.h"

namespace milieu {
namespace {

const RegisterFuzzTarget kRegistered("feature", [](std::span<const std::byte> input) {
  std::vector<FeatureSpec> specs = parse_features(as_text(input));
  check_promise(!specs.empty(), "a feature at least");
  for (FeatureSpec& spec : specs) {
    const std::string text = to_text(spec);
    FeatureSpec again = parse_feature(text);
    check_promise(to_text(again) == text && again.id == spec.id, "features read back");
  }
});

}  // namespace
}  // namespace milieu
