// SPDX-License-Identifier: Apache-2.0
// Writing and reading back; the layout that other safetensors readers expect. Files that must be
// refused are in model_reader_test.cc.
#include "milieu/store/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/summary.h"
#include "milieu/classic/counts/bags.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/store/json_internal.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using internal::Json;
using testing::ElementsAre;

// Everything a model may hold.
struct TestModel {
  static constexpr std::string_view kKind = "test";
  static constexpr int kFormatVersion = 3;
  Matrix<float> centers;
  Matrix<double> covariance;
  std::vector<float> scales;
  std::vector<double> weights;
  std::vector<int> parents;
  std::vector<int64_t> rows;
  std::vector<uint8_t> bits;
  int depth = 0;
  int64_t count = 0;
  double bandwidth = 0;
  std::string shape;
};

template <MaybeConst<TestModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("bits", m.bits);
  v("centers", m.centers);
  v("covariance", m.covariance);
  v("scales", m.scales);
  v("weights", m.weights);
  v("parents", m.parents);
  v("rows", m.rows);
  v("depth", m.depth);
  v("count", m.count);
  v("bandwidth", m.bandwidth);
  v("shape", m.shape);
}

TestModel sample_model() {
  TestModel m;
  m.centers = Matrix<float>(2, 3);
  for (int i = 0; i < 6; ++i) m.centers.data()[i] = 0.1f * static_cast<float>(i);
  m.covariance = Matrix<double>(1, 2);
  m.covariance(0, 1) = std::nan("");
  m.scales = {1.5f};
  m.weights = {0.1, -0.0, 5e-324};
  m.parents = {-1, std::numeric_limits<int>::max()};
  m.rows = {std::numeric_limits<int64_t>::min()};
  m.bits = {0, 1, 255};
  m.depth = -7;
  m.count = int64_t{1} << 60;
  m.bandwidth = 0.1;
  m.shape = "\"full\" & größer";
  return m;
}

void expect_equal(const TestModel& a, const TestModel& b) {
  EXPECT_EQ(a.centers, b.centers);
  EXPECT_EQ(a.covariance, b.covariance);  // by bits, so that NaN equals NaN
  EXPECT_EQ(a.scales, b.scales);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_TRUE(std::signbit(b.weights[1]));
  EXPECT_EQ(a.parents, b.parents);
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.bits, b.bits);
  EXPECT_EQ(a.depth, b.depth);
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.bandwidth, b.bandwidth);
  EXPECT_EQ(a.shape, b.shape);
}

Json header_of(const std::string& bytes) {
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  return Json::parse(bytes.substr(8, length));
}

template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "not refused";
}

TEST(ModelFile, ModelReadsBack) {
  const TempDir folder;
  const TestModel model = sample_model();
  save_model(folder.file("m.safetensors"), model, "{\"k\": 2}");
  expect_equal(model, load_model<TestModel>(folder.file("m.safetensors")));
  const ModelFile file = read_model_file(folder.file("m.safetensors"));
  EXPECT_EQ(file.kind, "test");
  EXPECT_EQ(file.format_version, 3);
  EXPECT_EQ(file.milieu_version, version());
  EXPECT_EQ(file.options_json, "{\"k\": 2}");
}

TEST(ModelFile, EmptyArraysReadBack) {
  const TempDir folder;
  TestModel model = sample_model();
  model.centers = Matrix<float>(0, 4);
  model.scales.clear();
  model.weights = {0, -0.0};
  save_model(folder.file("m"), model);
  const TestModel back = load_model<TestModel>(folder.file("m"));
  EXPECT_EQ(back.centers.rows(), 0);
  EXPECT_EQ(back.centers.cols(), 4);
  expect_equal(model, back);
}

TEST(ModelFile, ModelWithoutArraysReadsBack) {
  const TempDir folder;
  ModelFile file;
  file.kind = "none";
  write_model_file(folder.file("m"), file);
  const ModelFile back = read_model_file(folder.file("m"));
  EXPECT_EQ(back.kind, "none");
  EXPECT_TRUE(back.arrays.empty());
  EXPECT_TRUE(back.scalars.empty());
  EXPECT_EQ(back.options_json, "");
}

TEST(ModelFile, InfinitiesAndNanReadBackAsScalars) {
  const TempDir folder;
  TestModel model = sample_model();
  for (double value :
       {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    model.bandwidth = value;
    save_model(folder.file("m"), model);
    EXPECT_EQ(load_model<TestModel>(folder.file("m")).bandwidth, value);
  }
  model.bandwidth = std::nan("");
  save_model(folder.file("m"), model);
  EXPECT_TRUE(std::isnan(load_model<TestModel>(folder.file("m")).bandwidth));
}

TEST(ModelFile, SameModelGivesTheSameBytes) {
  const TempDir folder;
  save_model(folder.file("a"), sample_model(), "{}");
  save_model(folder.file("b"), sample_model(), "{}");
  EXPECT_EQ(read_bytes(folder.file("a")), read_bytes(folder.file("b")));
}

TEST(ModelFile, BytesInMemoryAreThoseOfTheFile) {
  const TempDir folder;
  save_model(folder.file("a"), sample_model(), "{}");
  EXPECT_EQ(model_file_bytes(to_model_file(sample_model(), "{}")), read_bytes(folder.file("a")));
}

TEST(ModelFile, LayoutIsThatOfSafetensors) {
  const TempDir folder;
  save_model(folder.file("m"), sample_model(), "{}");
  const std::string bytes = read_bytes(folder.file("m"));
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);  // so that the data are aligned
  EXPECT_EQ(bytes[8], '{');
  const Json header = header_of(bytes);
  int64_t total = 0;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      for (const auto& [key, value] : entry.items()) EXPECT_TRUE(value.is_string()) << key;
      continue;
    }
    const auto begin = entry["data_offsets"][0].get<int64_t>();
    const auto end = entry["data_offsets"][1].get<int64_t>();
    total += end - begin;
    const std::string dtype = entry["dtype"];
    const int64_t size = dtype == "U8" ? 1 : dtype.ends_with("64") ? 8 : 4;
    EXPECT_EQ(begin % size, 0) << name << " is not aligned";
  }
  EXPECT_EQ(bytes.size(), 8 + length + total);
  EXPECT_EQ(header["centers"]["dtype"], "F32");
  EXPECT_EQ(header["centers"]["shape"], Json({2, 3}));
  const auto begin = header["centers"]["data_offsets"][0].get<int64_t>();
  EXPECT_EQ(0, std::memcmp(bytes.data() + 8 + length + begin, sample_model().centers.data(), 24));
}

TEST(ModelFile, MetadataNameKindVersionsOptionsAndScalars) {
  const TempDir folder;
  save_model(folder.file("m"), sample_model(), "{\"k\": 2}");
  const Json metadata = header_of(read_bytes(folder.file("m")))["__metadata__"];
  EXPECT_EQ(metadata["milieu_kind"], "test");
  EXPECT_EQ(metadata["milieu_format_version"], "3");
  EXPECT_EQ(metadata["milieu_version"], version());
  EXPECT_EQ(metadata["options"], "{\"k\": 2}");
  const Json scalars = Json::parse(metadata["scalars"].get<std::string>());
  EXPECT_EQ(scalars["depth"], "-7");
  EXPECT_EQ(scalars["bandwidth"], "0.1");
}

// Options that quote what looks like a checksum do not confuse the search for the real one.
TEST(ModelFile, OptionsMayMentionAChecksum) {
  const TempDir folder;
  save_model(folder.file("m"), sample_model(), "{\"checksum\":\"crc32:12345678\"}");
  expect_equal(sample_model(), load_model<TestModel>(folder.file("m")));
}

TEST(ModelFile, WriterRefusesWhatNoReaderWouldTake) {
  const TempDir folder;
  const std::string path = folder.file("m");
  ModelFile file;
  EXPECT_EQ(refusal([&] { write_model_file(path, file); }),
            "a model file needs a kind: it is empty");
  file.kind = "test";
  const StoredArray good{"U8", {2}, std::vector<std::byte>(2)};
  file.arrays = {{"a", good}, {"a", good}};
  EXPECT_EQ(refusal([&] { write_model_file(path, file); }),
            "array name 'a' is taken: each must occur once and not be __metadata__");
  file.arrays = {{"__metadata__", good}};
  EXPECT_EQ(refusal([&] { write_model_file(path, file); }),
            "array name '__metadata__' is taken: each must occur once and not be __metadata__");
  file.arrays = {{"a", {"F16", {1}, std::vector<std::byte>(2)}}};
  EXPECT_EQ(refusal([&] { write_model_file(path, file); }),
            "array 'a' has dtype 'F16', must be one of F32, F64, I32, I64, U8");
  file.arrays = {{"a", {"F32", {2, 3}, std::vector<std::byte>(20)}}};
  EXPECT_EQ(refusal([&] { write_model_file(path, file); }),
            "array 'a' has 20 bytes, but F32 of shape [2, 3] needs 24");
  file.arrays = {};
  file.scalars = {{"x", "1"}, {"x", "2"}};
  EXPECT_EQ(refusal([&] { write_model_file(path, file); }),
            "scalar name 'x' is taken: each must occur once");
  EXPECT_THROW(read_bytes(path), IoError);  // nothing was written
}

TEST(ModelFile, WrongKindIsRefused) {
  const TempDir folder;
  ModelFile file = to_model_file(sample_model());
  file.kind = "gmm";
  EXPECT_EQ(refusal([&] { from_model_file<TestModel>(file, "m.safetensors"); }),
            "m.safetensors holds a model of kind gmm, must be test");
}

// A model in memory that may only be read: code that writes to a member dies at once.
template <class Model>
class ReadOnlyModel {
 public:
  explicit ReadOnlyModel(const Model& model) : page_(new_page()), model_(new (page_) Model(model)) {
    EXPECT_EQ(mprotect(page_, sizeof(Model), PROT_READ), 0);
  }
  ~ReadOnlyModel() {
    EXPECT_EQ(mprotect(page_, sizeof(Model), PROT_READ | PROT_WRITE), 0);
    model_->~Model();
    munmap(page_, sizeof(Model));
  }
  ReadOnlyModel(const ReadOnlyModel&) = delete;
  ReadOnlyModel& operator=(const ReadOnlyModel&) = delete;
  const Model& model() const { return *model_; }

 private:
  static void* new_page() {
    void* page =
        mmap(nullptr, sizeof(Model), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? throw std::bad_alloc() : page;
  }

  void* page_;
  Model* model_;
};

// Enums are stored as text; writing used to assign them back to the model.
TEST(ModelFile, WritingLeavesTheModelAlone_issue19) {
  const auto scalar_of = [](const auto& model, const char* name) {
    const ReadOnlyModel held(model);
    for (const auto& [key, text] : to_model_file(held.model()).scalars)
      if (key == name) return text;
    return std::string();
  };
  BagsModel bags;
  bags.weighting = BagWeighting::TfIdf;
  EXPECT_EQ(scalar_of(bags, "weighting"), "tf-idf");
  GmmModel gmm;
  gmm.covariance = GmmCovariance::Tied;
  EXPECT_EQ(scalar_of(gmm, "covariance"), "tied");
  DlgmmModel dlgmm;
  dlgmm.covariance = DlgmmCovariance::Full;
  EXPECT_EQ(scalar_of(dlgmm, "covariance"), "full");
}

TEST(ModelFile, NewerVersionIsRefusedOlderIsRead) {
  ModelFile file = to_model_file(sample_model());
  file.milieu_version = "9.1";
  file.format_version = 4;
  EXPECT_EQ(
      refusal([&] { from_model_file<TestModel>(file, "m.safetensors"); }),
      std::string("m.safetensors has format version 4 of test models (written by Milieu 9.1), "
                  "this Milieu ") +
          version() + " reads up to 3: install a newer one");
  file.format_version = 2;
  expect_equal(sample_model(), from_model_file<TestModel>(file, "m.safetensors"));
}

TEST(ModelFile, ArraysThatDoNotFitTheModelAreRefused) {
  const auto with = [](const char* name, StoredArray array) {
    ModelFile file = to_model_file(sample_model());
    for (auto& named : file.arrays)
      if (named.first == name) named.second = array;
    return refusal([&] { from_model_file<TestModel>(file, "m"); });
  };
  EXPECT_EQ(with("centers", {"F64", {1, 1}, std::vector<std::byte>(8)}),
            "m: array 'centers' is F64 of shape [1, 1], must be F32 with 2 extents");
  EXPECT_EQ(with("weights", {"F64", {1, 1}, std::vector<std::byte>(8)}),
            "m: array 'weights' is F64 of shape [1, 1], must be F64 with 1 extent");
  EXPECT_EQ(with("centers", {"F32", {int64_t{1} << 60, 0}, {}}),
            "m: array 'centers' of shape [1152921504606846976, 0] has rows without columns");
  ModelFile file = to_model_file(sample_model());
  file.arrays.clear();
  EXPECT_EQ(refusal([&] { from_model_file<TestModel>(file, "m"); }),
            "m: array 'bits' of the test model is missing");
}

TEST(ModelFile, ScalarsThatDoNotFitTheModelAreRefused) {
  const auto with = [](const char* name, const char* text) {
    ModelFile file = to_model_file(sample_model());
    for (auto& scalar : file.scalars)
      if (scalar.first == name) scalar.second = text;
    return refusal([&] { from_model_file<TestModel>(file, "m"); });
  };
  EXPECT_EQ(with("depth", "2147483648"),
            "m: scalar 'depth' is '2147483648', must be a whole number of 32 bits");
  EXPECT_EQ(with("count", "1.5"), "m: scalar 'count' is '1.5', must be a whole number of 64 bits");
  EXPECT_EQ(with("bandwidth", "wide"), "m: scalar 'bandwidth' is 'wide', must be a number");
  EXPECT_EQ(with("bandwidth", ""), "m: scalar 'bandwidth' is '', must be a number");
  ModelFile file = to_model_file(sample_model());
  file.scalars.clear();
  EXPECT_EQ(refusal([&] { from_model_file<TestModel>(file, "m"); }),
            "m: scalar 'depth' of the test model is missing");
}

TEST(ModelFile, MissingFileAndFolderAreIoErrors) {
  const TempDir folder;
  EXPECT_THROW(read_model_file(folder.file("none")), IoError);
  EXPECT_THROW(read_model_file(folder.path()), IoError);
  EXPECT_THROW(save_model(folder.file("none/m"), sample_model()), IoError);
}

}  // namespace
}  // namespace milieu
