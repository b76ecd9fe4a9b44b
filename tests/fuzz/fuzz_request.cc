// SPDX-License-Identifier: Apache-2.0
// What the explorer's page may post as a run.
#include <algorithm>

#include "fuzz_target.h"
#include "milieu/base/error.h"
#include "milieu/report/collection.h"
#include "milieu/run/methods.h"
#include "serve/message.h"
#include "serve/run_request.h"

namespace milieu {
namespace {

std::vector<serve::MethodInfo> all_methods() {
  std::vector<serve::MethodInfo> infos;
  for (const MethodEntry& method : methods()) {
    serve::MethodInfo& info = infos.emplace_back();
    info.name = method.name;
    info.inputs = method.make()->inputs();
    info.input_arguments = [](const std::string&) { return std::vector<std::string>{"X.npy"}; };
    info.make_fields = [&method] {
      std::shared_ptr<Method> made = method.make();
      std::vector<Field> fields = made->option_fields();
      return serve::OptionFields{made, std::move(fields)};
    };
  }
  return infos;
}

CollectionOptions six_rows() {
  CollectionOptions options;
  options.data.points = Points(Matrix<float>(6, 2));
  options.data.labels.names = {"a", "b"};
  options.data.labels.indices = {0, 0, 0, 1, 1, 1};
  for (int64_t i = 0; i < 6; ++i) options.data.rows.push_back(i);
  return options;
}

const RegisterFuzzTarget kRegistered("request", [](std::span<const std::byte> input) {
  static const std::vector<serve::MethodInfo> methods = all_methods();
  static const Collection collection{six_rows()};
  try {
    const serve::Json request = serve::Json::parse(as_text(input), nullptr, false);
    if (request.is_discarded()) throw InvalidArgument("not JSON");
    const serve::RunPlan plan = serve::plan_run(request, collection, methods);
    check_promise(!plan.arguments.empty() && plan.arguments[0] == plan.method, "a command line");
    check_promise(std::is_sorted(plan.rows.begin(), plan.rows.end()), "rows ascend");
    for (const int64_t row : plan.rows) check_promise(row >= 0 && row < 6, "rows in range");
    for (const int64_t row : plan.context_rows)
      check_promise(!std::binary_search(plan.rows.begin(), plan.rows.end(), row),
                    "set and context are disjoint");
  } catch (const serve::RequestError&) {
    // an answer, too
  }
});

}  // namespace
}  // namespace milieu
