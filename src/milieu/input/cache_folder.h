// SPDX-License-Identifier: Apache-2.0
// Where features, thumbnails and the explorer's runs are kept.
#pragma once

#include <string>

namespace milieu {

// $MILIEU_CACHE, else $XDG_CACHE_HOME/milieu, else ~/.cache/milieu. Throws InvalidArgument when
// none of these variables is set.
std::string cache_folder();

}  // namespace milieu
