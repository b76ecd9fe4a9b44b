// SPDX-License-Identifier: Apache-2.0
// The assembler copies the files into the object: no generated source, no compile time.
#include "milieu/report/page_assets.h"

#ifdef MILIEU_PAGE_DIR

#define MILIEU_EMBED(name, file)                                \
  asm(".section .rodata\n"                                      \
      ".global milieu_page_" #name                              \
      "\n"                                                      \
      ".global milieu_page_" #name                              \
      "_end\n"                                                  \
      "milieu_page_" #name ":\n.incbin \"" MILIEU_PAGE_DIR file \
      "\"\n"                                                    \
      "milieu_page_" #name "_end:\n.byte 0\n.previous\n");      \
  extern "C" const char milieu_page_##name[];                   \
  extern "C" const char milieu_page_##name##_end[]

MILIEU_EMBED(html, "/index.html");
MILIEU_EMBED(script, "/assets/app.js");
MILIEU_EMBED(style, "/assets/app.css");

namespace milieu {

PageAssets page_assets() {
  return {{milieu_page_html, milieu_page_html_end},
          {milieu_page_script, milieu_page_script_end},
          {milieu_page_style, milieu_page_style_end}};
}

}  // namespace milieu

#else

namespace milieu {

PageAssets page_assets() { return {}; }

}  // namespace milieu

#endif
