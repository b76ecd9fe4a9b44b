// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fuzz_target.h"
#include "milieu/data/labels.h"

namespace milieu {
namespace {

const RegisterFuzzTarget kRegistered("labels", [](std::span<const std::byte> input) {
  const Labels labels = parse_text_labels(as_text(input), "fuzz.txt", 1);
  const int num_classes = static_cast<int>(labels.names.size());
  std::vector<bool> occurs(labels.names.size(), false);
  for (const int index : labels.indices) {
    check_promise(index >= -1 && index < num_classes, "indices are classes or -1");
    if (index >= 0) occurs[static_cast<size_t>(index)] = true;
  }
  check_promise(std::find(occurs.begin(), occurs.end(), false) == occurs.end(), "classes occur");
  std::vector<std::string> names = labels.names;
  std::sort(names.begin(), names.end());
  check_promise(std::unique(names.begin(), names.end()) == names.end(), "classes are distinct");
});

}  // namespace
}  // namespace milieu
