// SPDX-License-Identifier: Apache-2.0
// What the page asks for (RunRequest, docs/explorer_api.md), checked and turned into a command line
// of this very program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "milieu/base/fields.h"
#include "milieu/base/inputs.h"
#include "milieu/report/page_json.h"

namespace milieu::serve {

using internal::Json;

// Option fields with the object that they refer to.
struct OptionFields {
  std::shared_ptr<void> owner;
  std::vector<Field> fields;
};

// A clustering command, as the page offers it.
struct MethodInfo {
  std::string name;  // as on the command line: "dcp", "icc advise"
  std::string title;
  std::string summary;
  bool judges_classes = false;     // every row of its set must have a class
  std::vector<InputField> inputs;  // the further inputs that it declares
  // "images" (image files), "classes", "binary" (rows of zeros and ones), "context" (others run
  // without one, too).
  std::vector<std::string> needs;
  std::function<OptionFields()> make_fields;  // fresh ones, with the defaults
  // INPUT and the flags that say how this method reads it by a feature; "": by the one that the
  // explorer was started with.
  std::function<std::vector<std::string>(const std::string& feature)> input_arguments;
};

// Whether the method declares further samples, or a part for every sample.
bool takes_context(const MethodInfo& method);
bool takes_constraints(const MethodInfo& method);

// Method as JSON, without the options that the explorer sets itself.
Json method_to_json(const MethodInfo& method);

// A run, ready to be started.
struct RunPlan {
  std::string method;
  std::string name;
  std::string feature;  // "": the one that the explorer was started with
  bool ranks_contexts = false;
  std::vector<int64_t> rows;          // of the collection, ascending
  std::vector<int64_t> context_rows;  // ascending; empty: none
  // After the program's name: "dcp", "INPUT", "--select", "6,0", ...; "{}" in front of a name
  // means the folder of the run.
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>>
      files;                            // written into that folder: name, content
  std::vector<std::string> part_names;  // that a corrected run keeps
  Json request;                         // as it came, tidied
};

// Throws InvalidArgument with a sentence for the user, or RequestError.
RunPlan plan_run(const Json& request, const Collection& collection,
                 const std::vector<MethodInfo>& methods);

// The rows of a RowSet ({"classes": [...], "rows": [...], "rest": true}); `rest` means all rows but
// `others`.
std::vector<int64_t> resolve_rows(const Json& set, const Collection& collection,
                                  const std::vector<int64_t>& others, const std::string& what);

}  // namespace milieu::serve
