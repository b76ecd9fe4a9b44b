// SPDX-License-Identifier: Apache-2.0
// milieu demo: a story for each context method, beside plain methods; no files needed. Leaves a
// folder with a page to look at, the data as files and a run folder for each run.
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

struct DemoFlags {
  std::string out = "milieu-demo";
  uint64_t seed = 1;
  int num_threads = 0;
  bool drawn = false;
  bool json = false;
  bool quiet = false;
};

template <class Visitor>
void visit_fields(DemoFlags& o, Visitor&& v) {
  v("seed", o.seed, at_least(0), "random seed, also for the data");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
  v("drawn", o.drawn, anything(),
    "draw all images, even if Debian's dataset-fashion-mnist is installed");
}

// Fits all jobs; fewer when the user interrupts.
std::vector<DemoRun> fit_jobs(const DemoPlace& place, const DemoStories& made, Session& session,
                              ProgressMonitor& progress) {
  std::vector<DemoRun> runs;
  for (const DemoStory& story : made.stories)
    for (const DemoJob& job : story.jobs) runs.emplace_back(job, story, place);
  Monitor monitor(session.interrupt.token());
  for (size_t i = 0; i < runs.size() && !session.interrupt.was_requested(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(runs.size());
    progress.announce(fmt::format("{}  {}: {}",
                                  bar_text(share, kBarWidth, session.console.has_unicode()),
                                  runs[i].story().name, runs[i].job().title));
    runs[i].fit(monitor);
  }
  return runs;
}

void write_folder(DemoFolder& folder, const DemoPlace& place, const DemoStories& made,
                  const std::vector<DemoRun>& runs) {
  double seconds = 0;
  for (const DemoRun& run : runs) {
    run.write();
    seconds += run.summary().seconds;
  }
  write_file_atomically(place.workplace + "/summary.json", demo_json(made, runs, place));
  write_file_atomically(place.workplace + "/report.html",
                        render_demo_page(made, runs, place, seconds));
  folder.commit(demo_readme(made, place.out));
}

void print_demo(const DemoPlace& place, const DemoStories& made, const std::vector<DemoRun>& runs,
                Console& console) {
  console.print(demo_table_text(made, runs, console));
  console.print(fmt::format("\nOpen {} in a browser. To try next:\n",
                            console.paint(Style::Bold, place.out + "/report.html")));
  for (const DemoStory& story : made.stories)
    console.print(fmt::format("\n{}\n  {}\n", story.next_meaning, next_command(story, place.out)));
#ifdef MILIEU_HAS_EXPLORER
  console.print(fmt::format("\nSee how the bars split, in a browser; Ctrl-C ends it:\n  {}\n",
                            explore_command_text(place.out)));
#endif
}

int run_demo(const DemoFlags& options, Session& session) {
  Console& console = session.console;
  console.set_quiet(options.quiet);
  session.interrupt.set_quiet(options.quiet);
  validate_options(options);
  // From here on the first Ctrl-C only stops the runs, so that incomplete files are removed.
  const Interrupt::Keeping keeping(session.interrupt);
  DemoFolder folder(options.out);
  const DemoPlace place{.out = options.out,
                        .workplace = folder.workplace(),
                        .seed = options.seed,
                        .num_threads = options.num_threads};
  ProgressMonitor progress(session, "demo");
  progress.announce("drawing the images");
  const DemoStories made = make_demo_stories(options.seed, !options.drawn);
  write_demo_files(made.stories, place.workplace);
  const std::vector<DemoRun> runs = fit_jobs(place, made, session, progress);
  if (session.interrupt.was_requested()) {
    progress.clear();
    console.note("interrupted: nothing was written");
    return kInterrupted;
  }
  progress.announce("writing " + options.out);
  write_folder(folder, place, made, runs);
  progress.clear();
  if (options.json)
    console.print(demo_json(made, runs, place));
  else if (!options.quiet)
    print_demo(place, made, runs, console);
  return session.interrupt.was_requested() ? kInterrupted : kDone;
}

RunCommand declare_demo(Flags& flags) {
  auto options = std::make_shared<DemoFlags>();
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
    "    asks five questions that a context answers, one per context method, prints how well each\n"
    "    run did, and leaves milieu-demo/report.html to look at and the data to try things with.\n";

}  // namespace

Command demo_command() {
  return {.name = "demo",
          .summary = "five questions that a context answers, with a page to look at",
          .example = kExample,
          .declare = declare_demo};
}

}  // namespace milieu::cli
