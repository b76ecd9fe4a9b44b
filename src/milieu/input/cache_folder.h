// SPDX-License-Identifier: Apache-2.0
// Where features, thumbnails and the explorer's runs are kept.
#pragma once

#include <string>

#include "milieu/base/export.h"
#include "milieu/data/identity/fingerprint.h"

namespace MILIEU_API milieu {

// $MILIEU_CACHE, else $XDG_CACHE_HOME/milieu, else ~/.cache/milieu. Throws InvalidArgument when
// none of these variables is set.
std::string cache_folder();

// The folder of the cache for what `print` says, made from the file or folder `source`: begins with
// the name of the source, shortened, and `kind`.
std::string cache_place(const std::string& source, const std::string& kind,
                        const Fingerprint& print);

}  // namespace milieu
