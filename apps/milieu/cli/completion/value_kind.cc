// SPDX-License-Identifier: Apache-2.0
#include "cli/completion/completion.h"

namespace milieu::cli {

ValueKind value_kind(const FlagSpec& spec) {
  if (spec.is_boolean()) return ValueKind::None;
  if (!spec.choices.empty()) return ValueKind::Choices;
  const std::string& value =
      spec.is_positional() && spec.value.empty() ? spec.names[0] : spec.value;
  if (value == "DIR" || value == "FOLDER") return ValueKind::Folder;
  for (const char* file :
       {"FILE", "PATH", "INPUT", "MODEL", "LABELS", "TRUTH", "TRAIN", "TEST", "RUN"})
    if (value.find(file) != std::string::npos) return ValueKind::File;
  return ValueKind::Other;
}

std::string_view short_help(std::string_view help) {
  const size_t end = help.find_first_of(":;([");
  help = help.substr(0, end);
  while (help.ends_with(' ')) help.remove_suffix(1);
  return help;
}

}  // namespace milieu::cli
