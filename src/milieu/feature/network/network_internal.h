// SPDX-License-Identifier: Apache-2.0
// A network file: read, tried in a child process, opened, run.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/data/mapped_file.h"
#include "milieu/feature/network/graph_internal.h"
#include "milieu/feature/network/session_internal.h"

namespace milieu::internal {

class NetworkFile {
 public:
  // Reads the file and finds the tensor that is wanted: that of `layer`; for "" the first output,
  // or with `before_pooling` the map that it is pooled from, where it is. Throws IoError, DataError
  // or InvalidArgument.
  void read(const std::string& path, const std::string& layer, bool before_pooling);

  const Graph& graph() const { return graph_; }
  // Of the model and of the files with its weights.
  uint64_t checksum() const;

  // Tries the network on an input of this shape in a child process; then opens it here. Returns the
  // shape of the output, empty when the monitor asked to stop. Throws DataError that says why it
  // cannot be run: the operator, the opset, a way out. From then on a stop that the monitor asks
  // for ends running images as well, so the monitor must outlive this object.
  std::vector<int64_t> open(const std::vector<int64_t>& input_shape, const Monitor& monitor);

  // After open(); thread-safe.
  Tensor run(const Tensor& input) const;

 private:
  std::string_view bytes() const { return edited_.empty() ? file_->text() : edited_; }
  std::string folder() const;
  int64_t size() const;  // in bytes, with all weights

  std::string path_;
  std::shared_ptr<const MappedFile> file_;
  Graph graph_;
  std::string tensor_;
  std::string edited_;  // the model with one more output; "": as it is
  std::unique_ptr<Session> session_;
  std::jthread watcher_;  // ends before the session does
};

}  // namespace milieu::internal
