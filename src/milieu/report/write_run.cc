// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/write_run.h"

#include "milieu/data/mapped_file.h"
#include "milieu/report/run_page.h"
#include "milieu/store/run_folder.h"

namespace milieu {

void write_run_files(const RunFiles& files, const std::string& path, bool force) {
  RunFolder folder(path, force);
  folder.write_text("options.json", files.options_json);
  folder.write_text("summary.json", files.summary_json);
  if (files.samples)
    folder.write_labels(files.labels, files.samples->sample_names, files.samples->rows);
  if (files.model) folder.write_model(*files.model);
  if (files.columns && !files.columns->empty()) folder.write_columns(*files.columns);
  for (const ResultFile& file : files.files) folder.write_file(file.name, file.content);
  for (const VocabularyFile& file : files.vocabulary)
    folder.write_file(file.name, MappedFile::open(file.path)->text());
  if (!files.report_html.empty()) folder.write_text("report.html", files.report_html);
  folder.commit();
}

void write_run(const RunOutcome& outcome, const std::string& path, bool force) {
  write_run_files({.options_json = outcome.options_json,
                   .summary_json = outcome.summary_json(),
                   .labels = outcome.labels,
                   .samples = &outcome.samples(),
                   .model = outcome.model ? &*outcome.model : nullptr,
                   .columns = &outcome.columns,
                   .files = outcome.files,
                   .vocabulary = outcome.input.images.vocabulary,
                   .report_html = render_run_page(outcome)},
                  path, force);
}

}  // namespace milieu
