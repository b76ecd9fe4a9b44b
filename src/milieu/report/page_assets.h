// SPDX-License-Identifier: Apache-2.0
// The explorer's page as Vite built it (web/), held in the program: nothing is read from disk or
// from another host at run time.
#pragma once

#include <string_view>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

struct PageAssets {
  std::string_view html;    // index.html; names /assets/app.js and /assets/app.css
  std::string_view script;  // one ES module
  std::string_view style;
};

// All empty in a program that was built without the page.
PageAssets page_assets();

}  // namespace milieu
