// SPDX-License-Identifier: Apache-2.0
// Gives a method's input struct the further data it declares (visit_inputs), read from files.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/inputs.h"
#include "milieu/cac/context_groups.h"
#include "milieu/exemplar/search/service_lists.h"
#include "milieu/input/input.h"
#include "milieu/input/row_files.h"

namespace MILIEU_API milieu {

// A visitor for visit_inputs. What it reads lives as long as this object. Inputs whose file is not
// given stay as they are.
class InputBinder {
 public:
  // All must outlive this object.
  InputBinder(const Input& input, const InputFiles& files, Monitor& monitor = silent_monitor())
      : input_(input), files_(files), monitor_(monitor), rows_(input.data.source, input.data) {}
  InputBinder(const InputBinder&) = delete;
  InputBinder& operator=(const InputBinder&) = delete;

  // Leaves out an input that the method reads by itself.
  void skip(std::string name) { skipped_.insert(std::move(name)); }

  void operator()(const char* name, FloatView& value, const InputRule& rule, const char* help);
  void operator()(const char* name, DoubleView& value, const InputRule& rule, const char* help);
  void operator()(const char* name, std::span<const double>& value, const InputRule& rule,
                  const char* help);
  void operator()(const char* name, std::span<const int>& value, const InputRule& rule,
                  const char* help);
  void operator()(const char* name, std::span<const std::pair<int64_t, int64_t>>& value,
                  const InputRule& rule, const char* help);
  void operator()(const char* name, const ContextGroups*& value, const InputRule& rule,
                  const char* help);
  void operator()(const char* name, const ServiceLists*& value, const InputRule& rule,
                  const char* help);
  // Views are INPUT itself (input.h): they are not read here.
  void operator()(const char*, std::vector<FloatView>&, const InputRule&, const char*) {}

  const RowFiles& rows() const { return rows_; }
  // The further samples that were bound to `name`; null when there are none.
  const Dataset* samples(const std::string& name) const;
  // Groups and lists as they were read: their memory is the caller's to change before a fit.
  ContextGroups* groups() { return groups_.get(); }
  const std::vector<std::string>& group_names() const { return group_names_; }
  std::vector<ServiceEntry>& service_entries() { return entries_; }

 private:
  // The file of an input; "" when it is not to be read.
  const std::string& path_of(const char* name) const;
  const Dataset* bind_samples(const std::string& name);

  const Input& input_;
  const InputFiles& files_;
  Monitor& monitor_;
  RowFiles rows_;
  std::set<std::string> skipped_;
  std::map<std::string, Dataset> samples_;
  std::deque<Points> points_;
  std::deque<Matrix<double>> matrices_;
  std::deque<std::vector<double>> numbers_;
  std::deque<std::vector<int>> integers_;
  std::deque<std::vector<std::pair<int64_t, int64_t>>> pairs_;
  std::unique_ptr<ContextGroups> groups_;
  std::vector<std::string> group_names_;
  std::vector<ServiceEntry> entries_;
};

}  // namespace milieu
