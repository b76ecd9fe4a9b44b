// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file: a Python dict of exactly three entries.
//
// Grammar:  header = "{" entry ("," entry)* [","] "}" blanks
//           entry  = 'descr': STRING | 'fortran_order': True|False | 'shape': TUPLE
//           TUPLE  = "(" [NUMBER ("," NUMBER)* [","]] ")"     NUMBER = digits ["L"] (Python 2)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/data/format/raw_array.h"

namespace milieu::internal {

struct NpyHeader {
  ElementType type = ElementType::Float32;
  int64_t item_bytes = 0;
  bool is_big_endian = false;
  bool is_fortran_order = false;
  std::vector<int64_t> shape;
};

// `text` is the dict with the blanks and the line end that pad it. Throws DataError.
NpyHeader parse_npy_header(std::string_view text, const std::string& source);

}  // namespace milieu::internal
