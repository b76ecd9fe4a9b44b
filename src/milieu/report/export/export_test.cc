// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "milieu/base/error.h"
#include "milieu/report/export/export_images.h"
#include "milieu/report/export/export_table.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// A run folder of three images in two parts, the third in none.
void write_run_folder(const TempDir& dir, const std::string& images) {
  fs::create_directories(dir.file("run"));
  dir.write("run/summary.json", R"({"method": "kmeans"})");
  dir.write("run/options.json", R"({"input": {"path": ")" + images + R"("}})");
  dir.write("run/labels.csv", "sample,label\na/1.pgm,0\nb/1.pgm,1\n\"b/=x, y.pgm\",-1\n");
}

TEST(Export, RunFolderGivesNamesClassesAndParts) {
  const TempDir dir;
  fs::create_directories(dir.file("photos"));
  write_run_folder(dir, dir.file("photos"));
  const ExportTable table = read_export_table(dir.file("run"), false);
  EXPECT_EQ(table.method, "kmeans");
  EXPECT_THAT(table.parts, ElementsAre("Part 1", "Part 2"));
  ASSERT_EQ(table.samples.size(), 3u);
  EXPECT_EQ(table.samples[1].class_name, "b");
  EXPECT_EQ(table.path_of(table.samples[0]), dir.file("photos/a/1.pgm"));
  EXPECT_FALSE(table.has_margins);
  EXPECT_THAT(export_csv(table), HasSubstr("b/1.pgm,1,Part 2,,1,b,0,,"));
}

TEST(Export, EditsOfTheFolderHoldUnlessTheOriginalIsWanted) {
  const TempDir dir;
  write_run_folder(dir, "rows.npy");
  Edits edits;
  edits.num_parts = 3;
  edits.moves = {{0, 2}, {1, Edits::kSetAside}};
  edits.tags = {{2, "odd"}, {2, "dark"}};
  edits.part_names = {"", "", "new"};
  write_edits(dir.file("run"), edits);
  const ExportTable table = read_export_table(dir.file("run"), false);
  EXPECT_THAT(table.parts, ElementsAre("Part 1", "Part 2", "new"));
  EXPECT_EQ(table.samples[0].label, 2);
  EXPECT_EQ(table.part_of(table.samples[1]), "");
  EXPECT_TRUE(table.samples[0].is_by_hand);
  EXPECT_FALSE(table.samples[2].is_by_hand);
  EXPECT_THAT(export_csv(table), HasSubstr("odd;dark"));
  const ExportTable original = read_export_table(dir.file("run"), true);
  EXPECT_EQ(original.samples[0].label, 0);
  EXPECT_THAT(original.parts, ElementsAre("Part 1", "Part 2"));
  EXPECT_FALSE(original.samples[0].is_by_hand);
}

TEST(Export, JsonHasEverySample) {
  const TempDir dir;
  write_run_folder(dir, "rows.npy");
  const auto json = nlohmann::json::parse(export_json(read_export_table(dir.file("run"), false)));
  EXPECT_EQ(json["samples"].size(), 3u);
  EXPECT_EQ(json["samples"][1]["part"], "Part 2");
  EXPECT_TRUE(json["samples"][2]["part"].is_null());
}

TEST(Export, CocoDescribesEveryImageAsAWhole) {
  const TempDir dir;
  write_run_folder(dir, dir.file("photos"));
  fs::create_directories(dir.file("photos/a"));
  fs::create_directories(dir.file("photos/b"));
  const std::string image = "P5 3 2 255\nabcdef";
  for (const char* name : {"a/1.pgm", "b/1.pgm", "b/=x, y.pgm"})
    dir.write(std::string("photos/") + name, image);
  const auto json = nlohmann::json::parse(export_coco(read_export_table(dir.file("run"), false)));
  EXPECT_EQ(json["images"].size(), 3u);
  EXPECT_EQ(json["annotations"].size(), 2u);  // the third is in no part
  EXPECT_EQ(json["annotations"][1]["bbox"], (nlohmann::json{0, 0, 3, 2}));
  EXPECT_EQ(json["annotations"][1]["category_id"], 2);
  EXPECT_EQ(json["categories"][1]["name"], "Part 2");
}

TEST(Export, ImagesOfEqualNameAndPartsOfOddNamesKeepApart) {
  const TempDir dir;
  ExportTable table;
  table.root = dir.file("photos");
  table.parts = {"../up", "../up", ".hidden"};
  fs::create_directories(dir.file("photos/a"));
  fs::create_directories(dir.file("photos/b"));
  for (const char* name : {"a/1.pgm", "b/1.pgm"}) {
    dir.write(std::string("photos/") + name, name);
    ExportSample sample;
    sample.name = name;
    sample.label = 0;
    table.samples.push_back(sample);
  }
  EXPECT_EQ(export_images(table, dir.file("sorted"), ImageExport::Copy, false), 2);
  EXPECT_EQ(read_bytes(dir.file("sorted/_.._up/1.pgm")), "a/1.pgm");
  EXPECT_EQ(read_bytes(dir.file("sorted/_.._up/b_1.pgm")), "b/1.pgm");
  EXPECT_TRUE(fs::is_directory(dir.file("sorted/_.._up (2)")));
  EXPECT_TRUE(fs::is_directory(dir.file("sorted/_.hidden")));
  EXPECT_THROW(export_images(table, dir.file("sorted"), ImageExport::Copy, false), InvalidArgument);
  table.samples[1].name = "b/gone.pgm";
  EXPECT_THROW(export_images(table, dir.file("other"), ImageExport::Copy, false), IoError);
  EXPECT_FALSE(fs::exists(dir.file("other")));
  EXPECT_FALSE(fs::exists(dir.file("other.new")));
}

// Python's reader is a second opinion: tests/cli/test_export.py.
TEST(Export, ZipHoldsTheSameFoldersAndTheSameBytes_issue24) {
  const TempDir dir;
  ExportTable table;
  table.root = dir.file("photos");
  table.parts = {"one", "two"};
  fs::create_directories(dir.file("photos/a"));
  fs::create_directories(dir.file("photos/b"));
  for (const char* name : {"a/1.pgm", "b/1.pgm", "b/2.pgm"}) {
    dir.write(std::string("photos/") + name, name);
    ExportSample sample;
    sample.name = name;
    sample.label = std::string(name) == "b/2.pgm" ? -1 : 0;
    table.samples.push_back(sample);
  }
  EXPECT_EQ(export_images(table, dir.file("one.zip"), ImageExport::Zip, false), 2);
  EXPECT_EQ(export_images(table, dir.file("two.zip"), ImageExport::Zip, false), 2);
  const std::string bytes = read_bytes(dir.file("one.zip"));
  EXPECT_EQ(bytes, read_bytes(dir.file("two.zip")));
  EXPECT_THAT(bytes, HasSubstr("one/1.pgm"));
  EXPECT_THAT(bytes, HasSubstr("one/b_1.pgm"));
  EXPECT_THAT(bytes, ::testing::Not(HasSubstr("2.pgm")));  // it is in no part
  EXPECT_THROW(export_images(table, dir.file("one.zip"), ImageExport::Zip, false), InvalidArgument);
}

TEST(Export, WhatIsNotARunOrNotImagesIsRefused) {
  const TempDir dir;
  EXPECT_THROW(read_export_table(dir.path(), false), InvalidArgument);
  EXPECT_THROW(export_coco(ExportTable()), InvalidArgument);
  EXPECT_THROW(export_images(ExportTable(), dir.file("x"), ImageExport::Link, false),
               InvalidArgument);
}

}  // namespace
}  // namespace milieu
