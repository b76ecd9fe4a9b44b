// SPDX-License-Identifier: Apache-2.0
// Splits the images of one folder by what separates them from the images of another, and writes
// report.html: two_folders PHOTOS CONTEXT REPORT [PARTS]
#include <milieu/base/error.h>
#include <milieu/data/atomic_file.h>
#include <milieu/report/run_page.h>
#include <milieu/run/run.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: two_folders PHOTOS CONTEXT REPORT [PARTS]\n");
    return 2;
  }
  milieu::RunSpec spec{.method = "dcp"};
  spec.input = {.path = argv[1], .feature = "gist"};
  spec.files["context"] = argv[2];
  spec.options["num_clusters"] = int64_t{argc > 4 ? std::atoi(argv[4]) : 2};
  try {
    const milieu::RunOutcome outcome = milieu::execute(spec);
    milieu::write_file_atomically(argv[3], milieu::render_run_page(outcome));
    std::printf("%s\n", outcome.summary.brief().c_str());
  } catch (const milieu::Error& error) {
    std::fprintf(stderr, "two_folders: %s\n", error.what());
    return 1;
  }
}
