// SPDX-License-Identifier: Apache-2.0
// milieu demo: methods side by side on small built-in data; no files needed. Leaves a folder with a
// page to look at, the data as files and a run folder for each run.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/progress.h"
#include "demo/demo_folder.h"
#include "demo/demo_page.h"
#include "demo/demo_run.h"
#include "demo/demo_text.h"
#include "milieu/base/fields.h"
#include "milieu/data/atomic_file.h"

namespace milieu::cli {

namespace {

constexpr int kBarWidth = 20;

struct DemoOptions {
  std::string out = "milieu-demo";
  uint64_t seed = 1;
  int num_threads = 0;
  bool json = false;
  bool quiet = false;
};

template <class Visitor>
void visit_fields(DemoOptions& o, Visitor&& v) {
  v("seed", o.seed, at_least(0), "random seed, also for the data");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

// Fits all jobs; fewer when the user interrupts.
std::vector<DemoRun> fit_jobs(const DemoOptions& options, const std::vector<DemoFamily>& families,
                              const std::string& workplace, Session& session,
                              ProgressMonitor& progress) {
  const std::vector<DemoJob>& jobs = demo_jobs();
  std::vector<DemoRun> runs;
  Monitor monitor(session.interrupt.token());
  for (size_t i = 0; i < jobs.size() && !session.interrupt.was_requested(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(jobs.size());
    progress.announce(fmt::format("{}  {} on {}",
                                  bar_text(share, kBarWidth, session.console.has_unicode()),
                                  jobs[i].method, jobs[i].set));
    runs.emplace_back(jobs[i], families, options.out, options.seed, options.num_threads);
    runs.back().fit(workplace, monitor);
  }
  return runs;
}

void write_folder(DemoFolder& folder, const DemoOptions& options,
                  const std::vector<DemoFamily>& families, const std::vector<DemoRun>& runs) {
  const std::string& place = folder.workplace();
  double seconds = 0;
  for (const DemoRun& run : runs) {
    run.write(fmt::format("{}/runs/{}", place, run.name()));
    seconds += run.summary().seconds;
  }
  write_file_atomically(place + "/summary.json", demo_json(runs, options.out, options.seed));
  write_file_atomically(place + "/report.html",
                        render_demo_page(families, runs, next_commands(options.out), seconds));
  folder.commit(demo_readme(families, options.out));
}

void print_demo(const DemoOptions& options, const std::vector<DemoFamily>& families,
                const std::vector<DemoRun>& runs, Console& console) {
  console.print(demo_table_text(families, runs, console));
  console.print(fmt::format("\nOpen {} in a browser. Four things to try next:\n",
                            console.paint(Style::Bold, options.out + "/report.html")));
  for (const NextCommand& next : next_commands(options.out))
    console.print(fmt::format("\n{}\n  {}\n", next.meaning, next.command));
#ifdef MILIEU_HAS_EXPLORER
  console.print(fmt::format("\nSee how the shapes split, in a browser; Ctrl-C ends it:\n  {}\n",
                            explore_command_text(options.out)));
#endif
}

int run_demo(const DemoOptions& options, Session& session) {
  Console& console = session.console;
  console.set_quiet(options.quiet);
  session.interrupt.set_quiet(options.quiet);
  validate_options(options);
  // From here on the first Ctrl-C only stops the runs, so that incomplete files are removed.
  const Interrupt::Keeping keeping(session.interrupt);
  DemoFolder folder(options.out);
  ProgressMonitor progress(session, "demo");
  progress.announce("drawing the data");
  const std::vector<DemoFamily> families = make_demo_families(options.seed);
  write_demo_files(families, folder.workplace());
  const std::vector<DemoRun> runs =
      fit_jobs(options, families, folder.workplace(), session, progress);
  if (session.interrupt.was_requested()) {
    progress.clear();
    console.note("interrupted: nothing was written");
    return kInterrupted;
  }
  progress.announce("writing " + options.out);
  write_folder(folder, options, families, runs);
  progress.clear();
  if (options.json)
    console.print(demo_json(runs, options.out, options.seed));
  else if (!options.quiet)
    print_demo(options, families, runs, console);
  return session.interrupt.was_requested() ? kInterrupted : kDone;
}

RunCommand declare_demo(Flags& flags) {
  auto options = std::make_shared<DemoOptions>();
  for (const Field& field : fields_of(*options)) flags.field(field, "", "Method");
  flags.text("--out", options->out, "DIR",
             "folder to leave behind (default: milieu-demo); an earlier demo is replaced",
             "Output");
  flags.boolean("--json", options->json, "print the table as JSON and nothing else", "Output");
  flags.boolean("-q,--quiet", options->quiet, "no progress and no text, only errors", "Output");
  return [options, &flags](Session& session) {
    flags.apply_given();
    return run_demo(*options, session);
  };
}

constexpr const char* kExample =
    "  milieu demo\n"
    "    draws small images and points, runs methods on them, prints how well each one did, and\n"
    "    leaves milieu-demo/report.html to look at and the data to try things with.\n";

}  // namespace

Command demo_command() {
  return {.name = "demo",
          .summary = "methods side by side on small built-in data, with a page to look at",
          .example = kExample,
          .declare = declare_demo};
}

}  // namespace milieu::cli
