// SPDX-License-Identifier: Apache-2.0
// What a person exports beside tables (report/export): images in folders by part, the report.
#include <filesystem>

#include "milieu/data/text_file.h"
#include "serve/explorer.h"

namespace milieu::serve {

namespace fs = std::filesystem;

std::string report_again(const RunRecord& run, const RunView& result,
                         const Collection& collection) {
  internal::PageFiles files;
  for (const Json& file : files_of(run)) {
    const auto name = file["name"].get<std::string>();
    if (name.ends_with(".png") || name.ends_with(".svg"))
      files.emplace_back(name, try_read_text_file(run.run_folder() + "/" + name).value_or(""));
  }
  return internal::page_again(try_read_text_file(run.run_folder() + "/report.html").value_or(""),
                              run.page(), result, collection, files);
}

Json export_folders(const RunRecord& run, const ExportTable& table, ImageExport how,
                    const std::string& to) {
  const std::string target = !to.empty()               ? to
                             : how == ImageExport::Zip ? run.folder + "/parts.zip"
                                                       : run.folder + "/parts";
  const int64_t count = export_images(table, target, how, to.empty());
  return {{"path", fs::absolute(target).string()}, {"count", count}};
}

}  // namespace milieu::serve
