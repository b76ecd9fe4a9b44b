// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/write_run.h"

#include "milieu/data/mapped_file.h"
#include "milieu/report/run_page.h"
#include "milieu/store/run_folder.h"

namespace milieu {

void write_run(const RunOutcome& outcome, const std::string& path, bool force) {
  RunFolder folder(path, force);
  folder.write_text("options.json", outcome.options_json);
  folder.write_text("summary.json", outcome.summary_json() + "\n");
  const Dataset& samples = outcome.samples();
  folder.write_labels(outcome.labels, samples.sample_names, samples.rows);
  if (outcome.model) folder.write_model(*outcome.model);
  if (!outcome.columns.empty()) folder.write_columns(outcome.columns);
  for (const ResultFile& file : outcome.files) folder.write_file(file.name, file.content);
  for (const VocabularyFile& file : outcome.input.images.vocabulary)
    folder.write_file(file.name, MappedFile::open(file.path)->text());
  folder.write_text("report.html", render_run_page(outcome));
  folder.commit();
}

}  // namespace milieu
