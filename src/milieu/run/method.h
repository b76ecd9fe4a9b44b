// SPDX-License-Identifier: Apache-2.0
// What a run needs to know about a method. A method that clusters rows needs one line in the table
// (rows_method.h); one that reads its input in another way derives from MethodWith.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/inputs.h"
#include "milieu/base/job/shard.h"
#include "milieu/base/monitor.h"
#include "milieu/base/ranks/communicator.h"
#include "milieu/input/input.h"
#include "milieu/input/input_binder.h"
#include "milieu/input/labels/label_source.h"
#include "milieu/run/outcome.h"

namespace MILIEU_API milieu {

// A named set of option values: what --preset NAME puts in place of the defaults. It may depend
// on the files and the input that are given.
struct Preset {
  std::string name;  // "paper"
  std::function<void(InputSpec& input)> apply;
};

// What a shard of a fit has done: 12 of 12 contexts.
struct ShardProgress {
  int64_t done = 0, total = 0;
  std::string item;  // "context"
};

// One run of one method: its options, its further inputs, its fit.
class Method {
 public:
  virtual ~Method() = default;

  // The option fields; they refer to this object.
  virtual std::vector<Field> option_fields() = 0;
  // The further inputs that the method declares (visit_inputs).
  virtual std::vector<InputField> inputs() const = 0;
  // Files and switches that are not data: a state to resume from, drawings to make.
  virtual std::vector<Field> own_fields() { return {}; }
  virtual std::vector<Preset> presets() { return {}; }

  // False when a further input takes the place of INPUT; asked once the options are read.
  virtual bool takes_input() const { return true; }
  // How a run reads a collection (the explorer) that was read by `spec`; shared files are set. The
  // default: in the same way.
  virtual void adapt_to_collection(InputSpec&, DescribeSpec&) {}
  // Reads INPUT. The default: rows, as most methods take them.
  virtual Input read(InputSpec& spec, Monitor& monitor) {
    return read_rows(spec, num_threads(), "", monitor);
  }
  // Takes the further inputs; they live as long as the binder.
  virtual void bind(InputBinder& binder) = 0;
  // The true classes of what will be labelled; `path` is --truth or empty.
  virtual Labels read_truth(const InputBinder& binder, const std::string& path);
  virtual RunOutcome fit(const Input& input, Monitor& monitor) = 0;
  // The fit in shards (base/job/shard.h), where it is made of items that need nothing from each
  // other.
  virtual bool has_shards() const { return false; }
  // Does the items of one shard and keeps them in `file`, one by one; what is there already is not
  // done again.
  virtual ShardProgress fit_shard(const Input& input, const Shard& shard, const std::string& file,
                                  Monitor& monitor);
  // What fit would have given, from the files of all shards in order. Throws InvalidArgument that
  // names the shards that are not complete.
  virtual RunOutcome merge_shards(const Input& input, const std::vector<std::string>& files,
                                  Monitor& monitor);
  // Called once the result is where the user wants it.
  virtual void on_saved() {}
  // The placeholder for new samples in "next: milieu predict RUN ...".
  virtual std::string new_input_text() const { return "NEW.npy"; }

  InputFiles& files();
  int num_threads();

  // The ranks that share the rows; one unless it is said.
  void set_ranks(Communicator& ranks) { ranks_ = &ranks; }
  Communicator& ranks() const { return *ranks_; }

 private:
  Communicator* ranks_ = &single_rank();
  std::unique_ptr<InputFiles> files_;
};

template <class Options, class MethodInput>
class MethodWith : public Method {
 public:
  std::vector<Field> option_fields() override { return fields_of(options_); }
  std::vector<InputField> inputs() const override { return inputs_of<MethodInput>(); }
  void bind(InputBinder& binder) override {
    if constexpr (requires { visit_inputs(input_, binder); }) visit_inputs(input_, binder);
  }

 protected:
  Options options_;
  MethodInput input_;
};

}  // namespace milieu
