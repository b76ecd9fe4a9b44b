// SPDX-License-Identifier: Apache-2.0
// Options in JSON: what is accepted obeys its ranges and reads back to the same text.
#include "fuzz_target.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/store/json.h"

namespace milieu {
namespace {

const RegisterFuzzTarget kRegistered("options", [](std::span<const std::byte> input) {
  GmmOptions options;
  options_from_json(as_text(input), fields_of(options), "fuzz.json");
  validate_options(options);
  const std::string text = options_to_json(fields_of(options));
  GmmOptions again;
  options_from_json(text, fields_of(again), "again.json");
  check_promise(options_to_json(fields_of(again)) == text, "options read back");
});

}  // namespace
}  // namespace milieu
