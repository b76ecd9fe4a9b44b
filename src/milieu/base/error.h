// SPDX-License-Identifier: Apache-2.0
// Errors that the caller can fix. A message names the thing, its value, the rule and the way out:
// "num_clusters is 0, must be at least 1".
//
// Three kinds of failure, three responses: the caller is wrong -> an exception from this file; the
// mathematics did not finish -> a Termination in the summary (summary.h); we are wrong ->
// MILIEU_ASSERT (assert.h).
#pragma once

#include <stdexcept>
#include <string>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// Base of all exceptions that Milieu throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An option or an argument breaks its contract (range, shape, combination).
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

// A file could be read, but what it says is wrong (truncated, ragged, NaN, unknown class).
class DataError : public Error {
 public:
  using Error::Error;
};

// A file could not be opened, read or written (missing, forbidden, disk full).
class IoError : public Error {
 public:
  using Error::Error;
};

// Throws InvalidArgument with `message` unless `holds`. Build the message lazily when it is costly:
// the second form calls `make_message` only on failure.
inline void require(bool holds, const char* message) {
  if (!holds) throw InvalidArgument(message);
}
template <class MakeMessage>
requires requires(MakeMessage m) { std::string(m()); }
void require(bool holds, MakeMessage&& make_message) {
  if (!holds) throw InvalidArgument(make_message());
}

}  // namespace milieu
