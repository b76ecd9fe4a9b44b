// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/input_binder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/data/format/npy.h"
#include "milieu/testing/image_files.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::ThrowsMessage;

// One input of every kind.
struct AllInputs {
  FloatView context, coordinates, table;
  DoubleView axes;
  std::span<const double> weights, numbers;
  std::span<const int> classes, parts, integers;
  std::span<const std::pair<int64_t, int64_t>> pairs;
  const ContextGroups* groups = nullptr;
  const ServiceLists* costs = nullptr;
  std::vector<FloatView> views;
};

template <class Visitor>
void visit_inputs(AllInputs& in, Visitor&& v) {
  v("context", in.context, InputRule{InputKind::Samples, "m x d"}, "other samples");
  v("coordinates", in.coordinates, InputRule{InputKind::Rows, "n x 2"}, "positions");
  v("table", in.table, InputRule{InputKind::Table, "k x d"}, "centres");
  v("axes", in.axes, InputRule{InputKind::Table, "q x d"}, "axes");
  v("weights", in.weights, InputRule{InputKind::Weights, "n"}, "weights");
  v("numbers", in.numbers, InputRule{InputKind::Numbers, "groups"}, "numbers");
  v("classes", in.classes, InputRule{InputKind::Classes, "n"}, "classes");
  v("parts", in.parts, InputRule{InputKind::Parts, "n"}, "parts");
  v("integers", in.integers, InputRule{InputKind::Integers, "k"}, "whole numbers");
  v("pairs", in.pairs, InputRule{InputKind::Pairs, "pairs"}, "pairs");
  v("groups", in.groups, InputRule{InputKind::Groups, "groups"}, "groups");
  v("costs", in.costs, InputRule{InputKind::Costs, "triples"}, "costs");
  v("view", in.views, InputRule{InputKind::Views, "n x d"}, "views");
}

// Five rows of two classes; the first class is kept: rows 0, 2 and 3.
class InputBinderTest : public ::testing::Test {
 protected:
  InputBinderTest() : cache_("MILIEU_CACHE", dir_.file("cache")) {
    spec_.path = dir_.write("X.csv", "x,kind\n0,a\n1,b\n2,a\n3,a\n4,b\n");
    spec_.label_column = "kind";
    spec_.select = "a";
  }
  void give(const std::string& name, const std::string& path) {
    for (const Field& field : files_.fields())
      if (field.name == name) return field.set(path);
    FAIL() << name;
  }
  // Binds everything that was given; the views live as long as this fixture.
  const AllInputs& bind() {
    source_ = read_rows(spec_, 1, "", silent_monitor());
    binder_ = std::make_unique<InputBinder>(source_, files_);
    inputs_ = {};
    visit_inputs(inputs_, *binder_);
    return inputs_;
  }

  TempDir dir_;
  ScopedVariable cache_;
  InputSpec spec_;
  InputFiles files_{inputs_of<AllInputs>()};
  Input source_;
  std::unique_ptr<InputBinder> binder_;
  AllInputs inputs_;
};

TEST_F(InputBinderTest, WhatIsNotGivenStaysEmpty) {
  const AllInputs& in = bind();
  EXPECT_TRUE(in.context.empty() && in.coordinates.empty() && in.axes.empty());
  EXPECT_TRUE(in.weights.empty() && in.classes.empty() && in.pairs.empty());
  EXPECT_EQ(in.groups, nullptr);
  EXPECT_EQ(binder_->samples("context"), nullptr);
}

TEST_F(InputBinderTest, FilesOfRowsFollowTheSelection) {
  give("weights", dir_.write("w.csv", "10\n11\n12\n13\n14\n"));
  give("coordinates", dir_.write("p.csv", "0,1\n0,2\n0,3\n0,4\n0,5\n"));
  give("classes", dir_.write("c.csv", "u\nv\nu\nv\nu\n"));
  give("parts", dir_.write("parts.csv", "part\n7\n-1\n-1\n8\n7\n"));
  const AllInputs& in = bind();
  EXPECT_THAT(in.weights, ElementsAre(10, 12, 13));
  EXPECT_EQ(in.coordinates.rows(), 3);
  EXPECT_EQ(in.coordinates(2, 1), 4);
  EXPECT_THAT(in.classes, ElementsAre(0, 0, 1));
  EXPECT_THAT(in.parts, ElementsAre(7, -1, 8));
}

TEST_F(InputBinderTest, TablesAndListsHaveTheirOwnLength) {
  give("table", dir_.write("t.csv", "1,2,3\n4,5,6\n"));
  give("axes", dir_.write("a.csv", "0.5\n0.25\n"));
  give("numbers", dir_.write("n.csv", "1,2,3,4\n"));
  give("integers", dir_.write("i.csv", "3\n1\n"));
  const AllInputs& in = bind();
  EXPECT_EQ(in.table(1, 2), 6);
  EXPECT_EQ(in.axes(1, 0), 0.25);
  EXPECT_THAT(in.numbers, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(in.integers, ElementsAre(3, 1));
}

TEST_F(InputBinderTest, PairsGroupsAndCostsSpeakOfRowsOfInput) {
  give("pairs", dir_.write("pairs.csv", "0,3\n2,3\n"));
  give("groups", dir_.write("groups.txt", "beach: 0 1 3\nlake: 4\n"));
  give("costs", dir_.write("costs.csv", "0,2,1.5\n0,1,2\n3,0,4\n"));
  const AllInputs& in = bind();
  EXPECT_THAT(in.pairs, ElementsAre(Pair(0, 2), Pair(1, 2)));
  ASSERT_NE(in.groups, nullptr);
  EXPECT_THAT(in.groups->members_of(0), ElementsAre(0, 2));
  EXPECT_THAT(in.groups->members_of(1), IsEmpty());
  EXPECT_THAT(binder_->group_names(), ElementsAre("beach", "lake"));
  ASSERT_EQ(binder_->service_entries().size(), 2u);  // row 1 was not kept
  EXPECT_EQ(binder_->service_entries()[1].p, 2);
  EXPECT_EQ(binder_->service_entries()[1].cost, 4);
}

TEST_F(InputBinderTest, WrongRowsAreNamed) {
  give("pairs", dir_.write("pairs.csv", "0,1\n"));
  EXPECT_THAT([&] { bind(); },
              ThrowsMessage<DataError>(HasSubstr("names row 1, which is not a kept row")));
  give("pairs", "");
  give("costs", dir_.write("costs.csv", "0,7,1\n"));
  EXPECT_THAT([&] { bind(); },
              ThrowsMessage<DataError>(HasSubstr("names row 7 in entry 0 (counted from 0), must be "
                                                 "a whole number from 0 to 4")));
  give("costs", dir_.write("costs.csv", "0,1\n"));
  EXPECT_THAT([&] { bind(); },
              ThrowsMessage<DataError>(HasSubstr("has 2 columns, must have three")));
  give("costs", "");
  give("weights", dir_.write("w.csv", "1\n2\n"));
  EXPECT_THAT([&] { bind(); }, ThrowsMessage<DataError>(HasSubstr("w.csv has 2 rows")));
}

TEST_F(InputBinderTest, SamplesComeFromAFileOrFromInput) {
  give("context", dir_.write("C.csv", "9\n8\n"));
  EXPECT_EQ(bind().context(1, 0), 8);
  give("context", "");
  give("context_select", "b");
  EXPECT_EQ(bind().context(1, 0), 4);
  EXPECT_EQ(binder_->samples("context")->points.rows(), 2);
  give("context_select", "");
  give("context_rows", dir_.write("rows.txt", "1\n"));
  EXPECT_EQ(bind().context(0, 0), 1);
  give("context_select", "b");
  EXPECT_THAT([&] { bind(); },
              ThrowsMessage<InvalidArgument>(
                  HasSubstr("give only one of --context, --context-select and --context-rows")));
}

TEST_F(InputBinderTest, SkippedInputsAreLeftToTheMethod) {
  give("weights", dir_.file("missing.csv"));
  source_ = read_rows(spec_, 1, "", silent_monitor());
  InputBinder binder(source_, files_);
  binder.skip("weights");
  AllInputs in;
  visit_inputs(in, binder);
  EXPECT_TRUE(in.weights.empty());
  InputBinder reads(source_, files_);
  EXPECT_THROW(visit_inputs(in, reads), IoError);
}

TEST_F(InputBinderTest, FolderIsDescribedAsInputIs) {
  give("context", make_image_folder(dir_, "others", 1));
  EXPECT_THAT([&] { bind(); }, ThrowsMessage<InvalidArgument>(HasSubstr("is a file of numbers")));
  spec_ = {};
  spec_.path = make_image_folder(dir_, "photos", 2);
  spec_.feature = "dense-sift:words=4";
  const AllInputs& in = bind();
  EXPECT_EQ(in.context.rows(), 2);
  EXPECT_EQ(in.context.cols(), 4);
  // Words that were learned from other images mean something else.
  InputSpec own = spec_;
  own.path = dir_.file("others");
  const Input others = read_rows(own, 1, "", silent_monitor());
  give("context", std::filesystem::path(others.images.vocabulary[0].path).parent_path().string());
  EXPECT_THAT([&] { bind(); }, ThrowsMessage<InvalidArgument>(HasSubstr("of training")));
}

}  // namespace
}  // namespace milieu
