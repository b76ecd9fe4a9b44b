// SPDX-License-Identifier: Apache-2.0
// Where the real data sets are, for tests and benchmarks. None of their files is in the repository;
// a test that needs one skips with `no_data_message` when it is absent:
//
//   const auto usps = find_data("usps_roweis");
//   if (!usps) GTEST_SKIP() << no_data_message("usps_roweis");
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace milieu {

// The folder of the data set `name` under $MILIEU_DATA or, when that is not set, under
// ../shared/data beside the source tree ($MILIEU_SOURCE_DIR, which CTest sets). Nothing if there is
// no such folder.
std::optional<std::string> find_data(std::string_view name);

// "data set usps_roweis not found: set MILIEU_DATA to the folder that holds it".
std::string no_data_message(std::string_view name);

}  // namespace milieu
