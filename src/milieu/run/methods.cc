// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/methods.h"

#include "milieu/run/methods/entries.h"

namespace milieu {

const std::vector<MethodEntry>& methods() {
  static const std::vector<MethodEntry> table = {
      cac_method(),       dcp_method(),           icc_method(),      exemplar_method(),
      dlgmm_method(),

      kmeans_method(),    kmodes_method(),        gmm_method(),      ncut_method(),
      meanshift_method(), agglomerative_method(), kmedoids_method(), topics_method(),
      bags_method(),      multinomials_method(),  jsom_method(),
  };
  return table;
}

const MethodEntry* find_method(std::string_view name) {
  for (const MethodEntry& entry : methods())
    if (entry.name == name) return &entry;
  return nullptr;
}

std::string method_title(const std::string& name) {
  if (const MethodEntry* entry = find_method(name)) return entry->title;
  const size_t blank = name.find(' ');
  if (blank == std::string::npos) return name;
  return method_title(name.substr(0, blank)) + name.substr(blank);
}

}  // namespace milieu
