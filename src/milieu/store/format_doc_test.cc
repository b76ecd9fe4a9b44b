// SPDX-License-Identifier: Apache-2.0
// The Python reader in docs/format.md reads what we write. Skipped where numpy is not installed.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "milieu/base/model_visitor.h"
#include "milieu/store/model_file.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

struct DocModel {
  static constexpr std::string_view kKind = "doc";
  static constexpr int kFormatVersion = 1;
  std::vector<uint8_t> bits{1, 0, 255};
  Matrix<float> centers;
  std::vector<double> weights{0.1, -2.5};
  std::vector<int> parents{-1, 7};
  std::vector<int64_t> rows{int64_t{1} << 40};
  double bandwidth = 0.1;
};

template <MaybeConst<DocModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("bits", m.bits);
  v("centers", m.centers);
  v("weights", m.weights);
  v("parents", m.parents);
  v("rows", m.rows);
  v("bandwidth", m.bandwidth);
}

// The first block of Python in a page.
std::string python_block(const std::string& page) {
  const std::string open = "```python\n";
  const size_t begin = page.find(open);
  if (begin == std::string::npos) return "";
  const size_t end = page.find("```", begin + open.size());
  return page.substr(begin + open.size(), end - begin - open.size());
}

constexpr const char* kCheck = R"(
import sys
kind, arrays, scalars = read_model(sys.argv[1])
assert kind == "doc", kind
assert scalars == {"bandwidth": "0.1"}, scalars
assert arrays["centers"].dtype == np.float32
assert arrays["centers"].tolist() == [[0, 1, 2], [3, 4, 5]], arrays["centers"]
assert arrays["weights"].tolist() == [0.1, -2.5], arrays["weights"]
assert arrays["parents"].tolist() == [-1, 7], arrays["parents"]
assert arrays["rows"].tolist() == [2**40], arrays["rows"]
assert arrays["bits"].tolist() == [1, 0, 255], arrays["bits"]
assert len(arrays) == 5, arrays.keys()
content = bytearray(open(sys.argv[1], "rb").read())
content[-1] ^= 1
open(sys.argv[1], "wb").write(content)
try:
    read_model(sys.argv[1])
except AssertionError:
    sys.exit(0)
sys.exit("a damaged file was read")
)";

TEST(FormatDoc, PythonReaderReadsAModelFile) {
  const char* source_dir = std::getenv("MILIEU_SOURCE_DIR");
  if (!source_dir) GTEST_SKIP() << "MILIEU_SOURCE_DIR is not set (ctest sets it)";
  if (std::system("/usr/bin/python3 -c 'import numpy' 2> /dev/null") != 0)
    GTEST_SKIP() << "numpy is not installed (apt install python3-numpy)";
  const std::string reader = python_block(read_bytes(std::string(source_dir) + "/docs/format.md"));
  ASSERT_NE(reader, "") << "docs/format.md has no block of Python";
  const TempDir folder;
  DocModel model;
  model.centers = Matrix<float>(2, 3);
  for (int i = 0; i < 6; ++i) model.centers.data()[i] = static_cast<float>(i);
  // Options that mention a checksum must not mislead the reader's search for the real one.
  save_model(folder.file("m.safetensors"), model, "{\"a\": \"crc32:00000000\"}");
  const std::string script = folder.write("read.py", reader + kCheck);
  const std::string command =
      "/usr/bin/python3 '" + script + "' '" + folder.file("m.safetensors") + "'";
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "exit status " << status;
}

}  // namespace
}  // namespace milieu
