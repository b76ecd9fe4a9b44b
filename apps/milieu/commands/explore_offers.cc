// SPDX-License-Identifier: Apache-2.0
#include "commands/explore_offers.h"

#include "milieu/feature/catalog.h"
#include "milieu/icc/advise/icc_advise.h"
#include "milieu/input/default_network.h"

namespace milieu::cli {

namespace {

const char* need_name(MethodNeed need) {
  switch (need) {
    case MethodNeed::Classes:
      return "classes";
    case MethodNeed::Images:
      return "images";
    case MethodNeed::Binary:
      return "binary";
    case MethodNeed::Context:
      break;
  }
  return "context";
}

serve::MethodInfo method_info(const MethodEntry& method, const InputSpec& input,
                              const DescribeSpec& describe, const SharedFiles& files) {
  serve::MethodInfo info;
  info.name = method.name;
  info.title = method.title;
  info.summary = method.summary;
  info.inputs = method.make()->inputs();
  for (const MethodNeed need : method.needs)
    if (need != MethodNeed::Images || !files.has_any_of(method))
      info.needs.emplace_back(need_name(need));
  info.input_arguments = [&method, input, describe, &files](const std::string& feature) {
    return collection_arguments(method, by_feature(input, feature), describe, files);
  };
  info.make_fields = [&method] {
    std::shared_ptr<Method> made = method.make();
    std::vector<Field> fields = made->option_fields();
    return serve::OptionFields{made, std::move(fields)};
  };
  return info;
}

// milieu icc advise is a command without an entry in the table: it judges classes, and its labels
// are no clustering.
serve::MethodInfo advice_info(InputSpec input) {
  serve::MethodInfo info;
  info.name = "icc advise";
  info.title = "Should a class be split?";
  info.summary = "a verdict for every class, with its evidence";
  info.needs.emplace_back(need_name(MethodNeed::Classes));
  info.judges_classes = true;
  input.truth.clear();
  info.input_arguments = [input](const std::string& feature) {
    return collection_arguments(by_feature(input, feature));
  };
  info.make_fields = [] {
    auto options = std::make_shared<IccAdviseOptions>();
    std::vector<Field> fields = fields_of(*options);
    return serve::OptionFields{options, std::move(fields)};
  };
  return info;
}

}  // namespace

std::vector<serve::MethodInfo> explorer_offers(const InputSpec& input, const DescribeSpec& describe,
                                               const SharedFiles& files) {
  std::vector<serve::MethodInfo> offers;
  for (const MethodEntry& method : methods())
    offers.push_back(method_info(method, input, describe, files));
  offers.push_back(advice_info(input));
  return offers;
}

std::vector<std::pair<std::string, std::string>> offered_features() {
  std::vector<std::pair<std::string, std::string>> offered;
  const std::string network = default_network_feature();
  if (!network.empty()) offered.emplace_back(network, "the network that you have set up");
  for (const FeatureEntry& entry : feature_catalog())
    if (entry.file.empty()) offered.emplace_back(entry.name, entry.summary);
  return offered;
}

}  // namespace milieu::cli
