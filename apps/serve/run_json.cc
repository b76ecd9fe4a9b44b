// SPDX-License-Identifier: Apache-2.0
// Runs as the page reads them: their files, their comparison.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "milieu/metrics/metrics.h"
#include "serve/explorer.h"

namespace milieu::serve {

namespace fs = std::filesystem;

Json files_of(const RunRecord& run) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(run.run_folder(), error)) {
    const std::string ending = entry.path().extension().string();
    if (entry.is_symlink(error) || !entry.is_regular_file(error)) continue;
    if (ending == ".png" || ending == ".svg" || ending == ".csv" || ending == ".json" ||
        ending == ".html")
      names.push_back(entry.path().filename().string());
  }
  // class_2.png before class_10.png
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;
  });
  Json list = Json::array();
  for (const std::string& name : names)
    list.push_back({{"name", name}, {"title", internal::file_title(name)}});
  return list;
}

Json compare_runs(const ViewColumns& a, const ViewColumns& b) {
  std::vector<int> first, second;
  std::vector<int64_t> common;
  std::vector<std::vector<int64_t>> table(static_cast<size_t>(a.num_parts),
                                          std::vector<int64_t>(static_cast<size_t>(b.num_parts)));
  size_t j = 0;
  for (size_t i = 0; i < a.rows.size(); ++i) {
    while (j < b.rows.size() && b.rows[j] < a.rows[i]) ++j;
    if (j == b.rows.size() || b.rows[j] != a.rows[i]) continue;
    common.push_back(a.rows[i]);
    if (a.labels[i] < 0 || b.labels[j] < 0) continue;
    first.push_back(a.labels[i]);
    second.push_back(b.labels[j]);
    ++table[static_cast<size_t>(a.labels[i])][static_cast<size_t>(b.labels[j])];
  }
  Json json{{"rows_in_both", common.size()}, {"table", table}};
  json["ari"] = nullptr;
  json["nmi"] = nullptr;
  if (!first.empty()) {
    const Metrics metrics = compute_metrics(first, second);
    json["ari"] = metrics.ari;
    json["nmi"] = metrics.nmi;
  }
  json["only_a"] = a.rows.size() - common.size();
  json["only_b"] = b.rows.size() - common.size();
  return json;
}

}  // namespace milieu::serve
