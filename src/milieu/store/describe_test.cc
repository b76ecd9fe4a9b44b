// SPDX-License-Identifier: Apache-2.0
#include "milieu/store/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/data/format/npy.h"
#include "milieu/store/json.h"
#include "milieu/store/model_file.h"
#include "milieu/store/run_folder.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using namespace std::string_literals;

// The description without the path in front.
std::string facts(const std::string& path) {
  const std::string text = describe_file(path);
  EXPECT_TRUE(text.starts_with(path + ": ")) << text;
  EXPECT_TRUE(text.ends_with('\n')) << text;
  return text.substr(path.size() + 2);
}

template <class Exception>
std::string refusal(const std::string& path) {
  try {
    describe_file(path);
  } catch (const Exception& error) {
    return error.what();
  }
  return "not refused";
}

ModelFile sample_model() {
  ModelFile file;
  file.kind = "kmeans";
  file.format_version = 2;
  file.milieu_version = "0.1.0";
  file.options_json = "{\"num_clusters\": 3, \"init\": \"random\"}";
  file.arrays = {{"centers", {"F32", {1, 2}, std::vector<std::byte>(8)}}};
  file.scalars = {{"bandwidth", "0.5"}};
  return file;
}

RunSummary sample_summary() {
  RunSummary s;
  s.method = "kmeans";
  s.termination = Termination::IterationLimit;
  s.objective = 12.5;
  s.iterations = 300;
  s.seconds = 0.25;
  s.n = 100;
  s.d = 2;
  s.clusters = 3;
  return s;
}

TEST(Describe, Model) {
  const TempDir folder;
  write_model_file(folder.file("m.safetensors"), sample_model());
  const char* expected =
      "kmeans model\n"
      "  format version: 2\n"
      "  written by: Milieu 0.1.0\n"
      "  array centers: F32 [1, 2]\n"
      "  scalar bandwidth: 0.5\n"
      "  options: init random, num_clusters 3\n";
  EXPECT_EQ(facts(folder.file("m.safetensors")), expected);
  write_model_file(folder.file("other_name"), sample_model());
  EXPECT_EQ(facts(folder.file("other_name")), expected);
}

TEST(Describe, ModelWithOddOptions) {
  const TempDir folder;
  ModelFile file = sample_model();
  file.options_json = "not JSON\x1b";
  write_model_file(folder.file("m"), file);
  EXPECT_THAT(facts(folder.file("m")), testing::HasSubstr("  options: not JSON\\x1b\n"));
}

TEST(Describe, DamagedModelIsRefused) {
  const TempDir folder;
  const std::string path = folder.write("m.safetensors", "short");
  EXPECT_EQ(refusal<DataError>(path), path + " is 5 bytes long, too short for a model file");
}

TEST(Describe, RunFolderWithMetrics) {
  const TempDir folder;
  Metrics metrics;
  metrics.accuracy = 0.75;
  RunFolder run(folder.file("run"), false);
  run.write_text("summary.json", summary_to_json(sample_summary(), &metrics));
  run.write_labels(std::vector<int>{0}, {}, {});
  run.commit();
  const std::string text = facts(folder.file("run"));
  EXPECT_THAT(text, testing::StartsWith("run folder\n  " + sample_summary().brief() +
                                        "\n  metrics: accuracy 0.75, "));
  EXPECT_THAT(text, testing::EndsWith("\n  files: labels.csv, summary.json\n"));
}

TEST(Describe, SummaryAndOptionsOfARun) {
  const TempDir folder;
  const std::string summary = folder.write("summary.json", summary_to_json(sample_summary()));
  EXPECT_EQ(facts(summary), "summary of a run\n  " + sample_summary().brief() + "\n");
  const std::string options = folder.write("options.json", R"({"num_clusters": 3, "a": [1]})");
  EXPECT_EQ(facts(options), "JSON object\n  a [1], num_clusters 3\n");
}

TEST(Describe, SummaryWithOddValuesDoesNoHarm) {
  const TempDir folder;
  const std::string path =
      folder.write("s.json", R"({"method": 3, "termination": "?", "n": 1e300, "metrics": 4})");
  RunSummary nothing;
  EXPECT_EQ(facts(path), "summary of a run\n  " + nothing.brief() + "\n");
}

TEST(Describe, BrokenJsonIsRefused) {
  const TempDir folder;
  const std::string broken = folder.write("run/summary.json", "{");
  EXPECT_EQ(refusal<DataError>(folder.file("run")), broken + " is not JSON (line 1, column 2)");
  const std::string list = folder.write("list.json", "[]");
  EXPECT_EQ(refusal<DataError>(list), list + " must hold one JSON object");
}

TEST(Describe, NumpyArray) {
  const TempDir folder;
  write_npy(folder.file("X.npy"), Matrix<float>(4, 3).view());
  EXPECT_EQ(facts(folder.file("X.npy")),
            "numpy array\n  type: float32, C order\n  shape: (4, 3)\n  samples: 4 of 3 numbers\n");
}

TEST(Describe, NumpyLabels) {
  const TempDir folder;
  write_npy(folder.file("y.npy"), std::vector<int64_t>{3, 1, 3, -1});
  EXPECT_EQ(facts(folder.file("y.npy")),
            "numpy array\n  type: int64, C order\n  shape: (4,)\n  samples: 4 of 1 number\n"
            "  classes: 2 (1, 3)\n  without a class: 1\n");
}

// Header of version 1.0 by hand: big-endian, Fortran order; and an array of texts.
TEST(Describe, NumpyArrayOfOtherLayouts) {
  const TempDir folder;
  const auto npy = [](std::string header, const std::string& data) {
    header.resize(117, ' ');
    return "\x93NUMPY\x01\x00\x76\x00"s + header + "\n" + data;
  };
  const std::string swapped = folder.write(
      "swapped.npy",
      npy("{'descr': '>i2', 'fortran_order': True, 'shape': (1, 2), }", std::string(4, '\0')));
  EXPECT_EQ(facts(swapped),
            "numpy array\n  type: int16, big-endian, Fortran order\n  shape: (1, 2)\n"
            "  samples: 1 of 2 numbers\n");
  const std::string texts = folder.write(
      "texts.npy", npy("{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }", "catdog"));
  EXPECT_EQ(facts(texts),
            "numpy array\n  type: text, C order\n  shape: (2,)\n  classes: 2 (cat, dog)\n");
}

TEST(Describe, IdxArray) {
  const TempDir folder;
  const std::string path =
      folder.write("images", "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x03"s + "abcdef");
  EXPECT_EQ(facts(path),
            "idx array\n  type: uint8, C order\n  shape: (2, 1, 3)\n  samples: 2 of 3 numbers\n");
}

TEST(Describe, Table) {
  const TempDir folder;
  const std::string path =
      folder.write("t.csv", "width,height,label\n1,2,cat\n3,4,dog\n5,nan,cat\n");
  EXPECT_EQ(facts(path),
            "text table\n  samples: 3 of 2 numbers\n  columns: width, height\n"
            "  classes: 2 (cat, dog)\n  not finite: first in row 2, column 1 (counted from 0)\n");
  EXPECT_EQ(facts(folder.write("t.tsv", "1\t2\n3\t4\n")),
            "text table\n  samples: 2 of 2 numbers\n");
}

TEST(Describe, ColumnOfWordsIsSuggestedAsTheLabelColumn) {
  const TempDir folder;
  EXPECT_EQ(facts(folder.write("t.csv", "width,kind,height\n1,cat,2\n3,dog,4\n")),
            "text table\n  samples: 2 of 2 numbers\n  columns: width, height\n"
            "  classes: 2 (cat, dog)\n  label column: kind (read it with --label-column kind)\n");
  EXPECT_EQ(facts(folder.write("u.csv", "1,2,cat\n3,4,dog\n")),
            "text table\n  samples: 2 of 2 numbers\n  classes: 2 (cat, dog)\n"
            "  label column: 3 (read it with --label-column 3)\n");
  EXPECT_THAT(
      [&] { describe_file(folder.write("v.csv", "a,b,c\n1,x,y\n2,z,w\n")); },
      testing::ThrowsMessage<DataError>(testing::HasSubstr("v.csv, line 2, column 2 (b): \"x\"")));
}

TEST(Describe, OneColumnOfFractionsIsATable) {
  const TempDir folder;
  EXPECT_EQ(facts(folder.write("t.csv", "0.5\n1.5\n")), "text table\n  samples: 2 of 1 number\n");
}

TEST(Describe, Labels) {
  const TempDir folder;
  EXPECT_EQ(facts(folder.write("words.txt", "cat\ndog\ncat\n")),
            "labels\n  samples: 3\n  classes: 2 (cat, dog)\n");
  EXPECT_EQ(facts(folder.write("numbers.txt", "4\n2\n")),
            "labels\n  samples: 2\n  classes: 2 (2, 4)\n");
  EXPECT_EQ(facts(folder.write("labels.csv", "sample,label\n0,0\n1,-1\n")),
            "labels\n  samples: 2\n  classes: 1 (0)\n  without a class: 1\n");
}

TEST(Describe, Groups) {
  const TempDir folder;
  EXPECT_EQ(facts(folder.write("g.txt", "beach: 0 1 4\nwood: 2\n")),
            "groups\n  groups: 2\n  samples: 5\n  members: 4\n");
}

TEST(Describe, FolderOfImages) {
  const TempDir folder;
  folder.write("p/cat/a.jpg", "");
  folder.write("p/cat/notes.txt", "");
  folder.write("p/dog/b.png", "");
  const std::string text = facts(folder.file("p"));
  EXPECT_THAT(text, testing::StartsWith("image folder\n  images: 2\n  classes: 2 (cat, dog)\n"
                                        "  skipped: 1 (first: cat/notes.txt, "));
}

TEST(Describe, WhatIsOfNoKindIsRefused) {
  const TempDir folder;
  EXPECT_EQ(refusal<DataError>(folder.path()),
            folder.path() + " is a folder with neither a run (summary.json) nor images in it");
  const std::string ragged = folder.write("r.csv", "1,2\n3,4,5\nx,y\n");
  EXPECT_THAT(refusal<DataError>(ragged), testing::HasSubstr(ragged));
  const std::string empty = folder.write("e.csv", "");
  EXPECT_THAT(refusal<DataError>(empty), testing::HasSubstr(empty));
  EXPECT_THAT(refusal<IoError>(folder.file("none")), testing::HasSubstr("none"));
}

}  // namespace
}  // namespace milieu
