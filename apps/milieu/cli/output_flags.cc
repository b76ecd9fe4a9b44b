// SPDX-License-Identifier: Apache-2.0
#include "cli/output_flags.h"

#include <fmt/format.h>

#include "milieu/base/fields.h"
#include "milieu/store/run_folder.h"

namespace milieu::cli {

namespace {

constexpr const char* kOutput = "Output";

}  // namespace

// Only what has a range; the others are declared by hand.
template <class Visitor>
void visit_fields(OutputFlags& o, Visitor&& v) {
  v("time_limit", o.time_limit, at_least(0),
    "stop after this many seconds and keep the result so far; 0 means no limit");
}

void OutputFlags::declare(Flags& flags, const char* out_help, bool has_time_limit) {
  flags.text("--out", out, "DIR", out_help, kOutput);
  flags.boolean("--force", force, "replace the run folder DIR if it exists", kOutput);
  flags.boolean("--json", json, "print the summary as JSON and nothing else", kOutput);
  flags.boolean("-q,--quiet", quiet, "no progress and no text, only errors", kOutput);
  if (has_time_limit) flags.field(fields_of(*this)[0], "SECONDS", kOutput);
}

void OutputFlags::declare_progress(Flags& flags) {
  flags.boolean("--progress-json", progress_json, "progress as JSON on stderr, one object per line",
                "");
}

ProgressStyle OutputFlags::progress_style() const {
  return progress_json ? ProgressStyle::Json : ProgressStyle::Text;
}

template <class Visitor>
void visit_fields(LabelFlags& o, Visitor&& v) {
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

void LabelFlags::declare(Flags& flags, const std::string& what) {
  flags.text("--out", out, "FILE",
             fmt::format("write the {} to this .csv or .npy instead of stdout", what).c_str(),
             kOutput);
  flags.boolean("--json", json,
                "print a summary as JSON and nothing else (labels go to --out only)", kOutput);
  flags.boolean("-q,--quiet", quiet, "no text, only labels and errors", kOutput);
  flags.field(fields_of(*this)[0], "", kOutput);
}

void LabelFlags::validate() const { validate_options(*this); }

void OutputFlags::validate() const { validate_options(*this); }

void OutputFlags::apply(Session& session) const {
  session.console.set_quiet(quiet);
  session.interrupt.set_quiet(quiet);
}

void OutputFlags::probe() const {
  if (out.empty()) return;
  const RunFolder probe(out, force);  // removes itself again
}

}  // namespace milieu::cli
