// SPDX-License-Identifier: Apache-2.0
// One way to run a method: what to read, what to run and how, in; a typed outcome, out.
//
//   RunSpec spec{.method = "dcp"};
//   spec.input = {.path = "photos", .feature = "gist"};
//   spec.files["context"] = "other_photos";
//   spec.options["num_clusters"] = int64_t{3};
//   const RunOutcome outcome = execute(spec);
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/monitor.h"
#include "milieu/base/ranks/communicator.h"
#include "milieu/input/input_spec.h"
#include "milieu/input/labels/label_source.h"
#include "milieu/run/methods.h"
#include "milieu/run/outcome.h"

namespace MILIEU_API milieu {

class PartNaming;

struct RunSpec {
  std::string method;                              // a name of the table
  InputSpec input = {};                            // INPUT and how it is read
  DescribeSpec describe = {};                      // what the parts get their names from
  std::map<std::string, std::string> files = {};   // further inputs of the method, by name
  std::map<std::string, FieldValue> options = {};  // those that differ from the defaults
  std::string preset = {};  // option values in place of the defaults; "": none
  double time_limit = 0;    // seconds; 0: none
};

// Reads, fits, and says how well the labels agree with the truth. Nothing is written but the
// feature cache. Throws InvalidArgument, DataError or IoError; a fit that is stopped is an outcome.
RunOutcome execute(const RunSpec& spec, Monitor& monitor = silent_monitor());

// The same in steps, for callers that set fields one by one and act between reading and fitting.
class Run {
 public:
  // Throws InvalidArgument for a method that is not in the table.
  explicit Run(const std::string& method);
  explicit Run(const MethodEntry& method);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const MethodEntry& entry() const { return entry_; }
  Method& method() { return *method_; }
  InputSpec& input() { return spec_; }
  DescribeSpec& describe() { return describe_; }
  // INPUT (its path first), what describes it, the further inputs, the method's own files: what
  // options.json calls input.
  std::vector<Field> input_fields();
  std::vector<Field> option_fields() { return method_->option_fields(); }

  // Throws InvalidArgument for a name that the method does not have.
  void apply_preset(const std::string& name);
  // Several ranks run the same method on the same input, each with its own rows; rank 0 has the
  // outcome, the others' has no labels. Throws InvalidArgument for a method that stays on one
  // machine. Call it before read; the ranks must outlive this object.
  void set_ranks(Communicator& ranks);
  // Everything from options.json, or from a run folder that has one.
  void read_options(const std::string& path);
  // Throws InvalidArgument for values out of range, a missing INPUT, one that is not taken.
  void validate();
  // Reads everything, so that a wrong file is found before an hour of work.
  void read(Monitor& monitor);
  const Input& loaded() const { return loaded_; }
  // Call one of these once, after read. A shard does its part of a fit; when all have, merge gives
  // the outcome that fit would have given. `folder` is where the shards are kept (shard_files.h).
  RunOutcome fit(Monitor& monitor);
  ShardProgress fit_shard(const Shard& shard, const std::string& folder, Monitor& monitor);
  RunOutcome merge(const std::string& folder, Monitor& monitor);

 private:
  std::vector<Field> result_option_fields();
  RunOutcome completed(RunOutcome out, Monitor& monitor);
  void check_ranks();

  const MethodEntry& entry_;
  std::shared_ptr<Method> method_;
  InputSpec spec_;
  DescribeSpec describe_;
  Input loaded_;
  std::unique_ptr<InputBinder> binder_;
  std::unique_ptr<PartNaming> naming_;  // null without --describe
  Labels truth_;
  ImageSize image_size_;
};

}  // namespace milieu
