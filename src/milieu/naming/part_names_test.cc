// SPDX-License-Identifier: Apache-2.0
#include "milieu/naming/part_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

NamedLabel label(int index, const char* name, double sure) {
  NamedLabel out;
  out.label = index;
  out.name = name;
  out.sure = sure;
  out.mean = 0.75;
  out.lead = 0.5;
  out.p = 0.001;
  return out;
}

TEST(PartNames, SynonymsAreLeftOutWhereTheFirstIsUnique) {
  const std::vector<std::string> lines = {"snow leopard, ounce, Panthera uncia", "crane",
                                          "crane, machine", "lynx", ", odd"};
  EXPECT_EQ(shown_names(lines),
            (std::vector<std::string>{"snow leopard", "crane", "crane, machine", "lynx", ", odd"}));
}

TEST(PartNames, TextHasOneLinePerPart) {
  std::vector<PartNames> parts(2);
  parts[0].labels = {label(3, "snow leopard", 0.981), label(7, "lynx", 0.7)};
  parts[1].exemplar = {label(9, "jaguar", 1)};
  EXPECT_EQ(parts[0].title(), "snow leopard, lynx");
  EXPECT_EQ(parts[1].title(), "");
  EXPECT_EQ(part_names_text(parts),
            "part 0: snow leopard (98 % sure), lynx (70 % sure)\n"
            "part 1: no label sets it apart; its exemplar: jaguar\n");
}

TEST(PartNames, CsvHasOneLinePerLabel) {
  std::vector<PartNames> parts(1);
  parts[0].labels = {label(3, "leopard, spotted", 0.5)};
  parts[0].exemplar = {label(9, "jaguar", 1)};
  EXPECT_EQ(part_names_csv(parts),
            "part,of,rank,label,name,sure,mean,lead,p\n"
            "0,part,1,3,\"leopard, spotted\",0.5,0.75,0.5,0.001\n"
            "0,exemplar,1,9,jaguar,1,0.75,0.5,0.001\n");
}

TEST(PartNames, LabelsGetTheirNames) {
  const std::vector<std::string> names = {"a", "b"};
  PartLabel second;
  second.label = 1;
  EXPECT_EQ(with_names(std::vector{second}, names)[0].name, "b");
}

// The 1001 names of ImageNet for a network of 1000 scores.
TEST(LabelNames, AFirstLineThatIsTheBackgroundIsLeftOut) {
  EXPECT_THAT(match_label_names({"background", "tench", "goldfish"}, 2, "f", "net"),
              ElementsAre("tench", "goldfish"));
  EXPECT_THAT(match_label_names({"Background", "tench"}, 2, "f", "net"),
              ElementsAre("Background", "tench"));
}

TEST(LabelNames, OtherNumbersSayWhatToDo) {
  const auto match = [](std::vector<std::string> lines, int64_t num_scores) {
    return [=] { match_label_names(lines, num_scores, "names.txt", "onnx:net.onnx"); };
  };
  EXPECT_THAT(
      match({"a", "b", "c"}, 2),
      ThrowsMessage<DataError>(
          "names.txt has 3 names, onnx:net.onnx has 2 labels: they must match, one name per "
          "line, in the order of the labels; a first line is left out if it is background"));
  EXPECT_THAT(match({"a"}, 2), ThrowsMessage<DataError>(HasSubstr(
                                   "if the first label is the background, begin with the line")));
  EXPECT_THAT(match({"a"}, 7), ThrowsMessage<DataError>(HasSubstr("1 name,")));
}

}  // namespace
}  // namespace milieu
