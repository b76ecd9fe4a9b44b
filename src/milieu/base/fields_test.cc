// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/fields.h"

#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"

namespace milieu {
namespace {

enum class Shape { Round, Long, Flat };

struct ExampleOptions {
  int count = 3;
  int64_t large = 5;
  uint64_t seed = 1;
  double share = 0.25;
  double scale = 1;
  bool center = true;
  std::string name = "x|y";
  Shape shape = Shape::Long;
};

template <class Visitor>
void visit_fields(ExampleOptions& o, Visitor&& v) {
  v("count", o.count, at_least(1).alias("k").alias("num"), "how many");
  v("large", o.large, anything(), "a large number");
  v("seed", o.seed, at_least(0).advanced(), "random seed");
  v("share", o.share, between(0, 1), "between nothing and all");
  v("scale", o.scale, above(0), "unit a|b");
  v("center", o.center, anything(), "subtract the mean");
  v("name", o.name, anything(), "free text");
  v("shape", o.shape,
    one_of<Shape>({{"round", Shape::Round}, {"long", Shape::Long}, {"flat", Shape::Flat}})
        .alias("form")
        .advanced(),
    "which shape");
}

struct PythonOptions {
  int num_restarts = 1, num_words = 1, distance = 1, depth = 1, bins = 1;
};

template <class Visitor>
void visit_fields(PythonOptions& o, Visitor&& v) {
  v("num_restarts", o.num_restarts, anything(), "");
  v("num_words", o.num_words, anything(), "");
  v("distance", o.distance, anything(), "");
  v("depth", o.depth, anything(), "");
  v("bins", o.bins, anything().in_python("n_bins"), "");
}

// scikit-learn's names where it has one, n_ for num_, a name of its own where one is given.
TEST(FieldNames, InPythonAreThoseOfScikitLearn) {
  PythonOptions options;
  std::vector<std::string> names;
  for (const Field& field : fields_of(options)) names.push_back(field.python_name());
  EXPECT_EQ(names, (std::vector<std::string>{"n_init", "n_words", "metric", "depth", "n_bins"}));
}

class Fields : public ::testing::Test {
 protected:
  const Field& field(const std::string& name) {
    for (const Field& f : fields_)
      if (f.name == name) return f;
    throw std::logic_error("no field " + name);
  }
  void expect_refused(const std::string& name, const std::string& text,
                      const std::string& message) {
    try {
      field(name).set_from_text(text);
      field(name).validate();
      ADD_FAILURE() << name << " = " << text << " was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.what(), message);
    }
  }

  ExampleOptions options_;
  std::vector<Field> fields_ = fields_of(options_);
};

TEST_F(Fields, AreListedInOrderWithKindsRulesAndFlags) {
  ASSERT_EQ(fields_.size(), 8u);
  EXPECT_EQ(fields_[0].name, "count");
  EXPECT_EQ(fields_[0].kind, FieldKind::Integer);
  EXPECT_EQ(fields_[0].rule.aliases, (std::vector<std::string>{"k", "num"}));
  EXPECT_EQ(fields_[3].kind, FieldKind::Real);
  EXPECT_EQ(fields_[5].kind, FieldKind::Flag);
  EXPECT_EQ(fields_[6].kind, FieldKind::Text);
  EXPECT_EQ(fields_[7].kind, FieldKind::Choice);
  EXPECT_EQ(fields_[7].choices, (std::vector<std::string>{"round", "long", "flat"}));
  EXPECT_EQ(fields_[7].rule.aliases, (std::vector<std::string>{"form"}));
  EXPECT_TRUE(fields_[2].rule.is_advanced);
  EXPECT_TRUE(fields_[7].rule.is_advanced);
  EXPECT_FALSE(fields_[0].rule.is_advanced);
  Field dashed;
  dashed.name = "num_restarts_left";
  EXPECT_EQ(dashed.flag(), "--num-restarts-left");
}

TEST_F(Fields, RangesReadLikeSentences) {
  EXPECT_EQ(field("count").range_text(), "at least 1");
  EXPECT_EQ(field("large").range_text(), "");
  EXPECT_EQ(field("share").range_text(), "between 0 and 1");
  EXPECT_EQ(field("scale").range_text(), "above 0");
  EXPECT_EQ(field("shape").range_text(), "round, long or flat");
  Field at_most;
  at_most.kind = FieldKind::Real;
  at_most.rule.max = 2;
  EXPECT_EQ(at_most.range_text(), "at most 2");
  Field single;
  single.kind = FieldKind::Choice;
  EXPECT_EQ(single.range_text(), "");
  single.choices = {"only"};
  EXPECT_EQ(single.range_text(), "only");
}

TEST_F(Fields, GetAndSetReachTheOptionsObject) {
  field("count").set(FieldValue(int64_t{7}));
  field("share").set(FieldValue(0.5));
  field("scale").set(FieldValue(int64_t{2}));
  field("center").set(FieldValue(false));
  field("name").set(FieldValue(std::string("abc")));
  field("shape").set(FieldValue(std::string("flat")));
  EXPECT_EQ(options_.count, 7);
  EXPECT_EQ(options_.share, 0.5);
  EXPECT_EQ(options_.scale, 2);
  EXPECT_FALSE(options_.center);
  EXPECT_EQ(options_.name, "abc");
  EXPECT_EQ(options_.shape, Shape::Flat);
  options_.count = 9;
  options_.shape = Shape::Round;
  EXPECT_EQ(field("count").get(), FieldValue(int64_t{9}));
  EXPECT_EQ(field("shape").get(), FieldValue(std::string("round")));
}

struct RenamedOptions {
  double max_memory_gb = 4;
  Shape init = Shape::Long;
};

template <class Visitor>
void visit_fields(RenamedOptions& o, Visitor&& v) {
  v("max_memory_gb", o.max_memory_gb, above(0).former("memory_limit", 1e-3), "memory");
  v("init", o.init,
    one_of<Shape>({{"round", Shape::Round}, {"long", Shape::Long}}).former("k-round", Shape::Round),
    "how a run is initialised");
}

TEST(RenamedFields, FormerNamesAreReadInTheirUnit) {
  RenamedOptions options;
  const std::vector<Field> fields = fields_of(options);
  const std::vector<Field> former = fields[0].former_fields();
  ASSERT_EQ(former.size(), 1u);
  EXPECT_EQ(former[0].flag(), "--memory-limit");
  EXPECT_EQ(former[0].get(), FieldValue(4000.0));
  former[0].set_from_text("500");
  EXPECT_EQ(options.max_memory_gb, 0.5);
  former[0].set(FieldValue(int64_t{2000}));
  EXPECT_EQ(options.max_memory_gb, 2);
  EXPECT_THROW(former[0].set(FieldValue(std::string("much"))), InvalidArgument);
  former[0].set(FieldValue(0.0));
  EXPECT_THROW(former[0].validate(), InvalidArgument);
  EXPECT_TRUE(fields[1].former_fields().empty());
}

TEST(RenamedFields, FormerChoicesAreReadButNotShown) {
  RenamedOptions options;
  const std::vector<Field> fields = fields_of(options);
  fields[1].set_from_text("k-round");
  EXPECT_EQ(options.init, Shape::Round);
  EXPECT_EQ(fields[1].get(), FieldValue(std::string("round")));
  EXPECT_EQ(fields[1].range_text(), "round or long");
}

// A list that was one number in an earlier version, or is one in Python.
TEST_F(Fields, ATextTakesANumber_issue30) {
  field("name").set(int64_t{25});
  EXPECT_EQ(std::get<std::string>(field("name").get()), "25");
  field("name").set(0.5);
  EXPECT_EQ(std::get<std::string>(field("name").get()), "0.5");
}

TEST_F(Fields, TextIsParsedWhole) {
  field("count").set_from_text("+5");
  EXPECT_EQ(options_.count, 5);
  field("count").set_from_text("1e3");
  EXPECT_EQ(options_.count, 1000);
  field("large").set_from_text("-9223372036854775808");
  EXPECT_EQ(options_.large, std::numeric_limits<int64_t>::min());
  field("share").set_from_text("+0.5");
  EXPECT_EQ(options_.share, 0.5);
  field("scale").set_from_text("1e-3");
  EXPECT_EQ(options_.scale, 1e-3);
  field("shape").set_from_text("round");
  EXPECT_EQ(options_.shape, Shape::Round);
  field("name").set_from_text("");
  EXPECT_EQ(options_.name, "");
  for (const char* yes : {"true", "1", "yes", "on"}) {
    options_.center = false;
    field("center").set_from_text(yes);
    EXPECT_TRUE(options_.center) << yes;
  }
  for (const char* no : {"false", "0", "no", "off"}) {
    options_.center = true;
    field("center").set_from_text(no);
    EXPECT_FALSE(options_.center) << no;
  }
}

TEST_F(Fields, TextThatIsNoNumberIsRefused) {
  for (const std::string text : {"", " 5", "5 ", "five", "5x", "2.5", "++5", "+-5", "nan", "inf"})
    expect_refused("count", text, "count is '" + text + "', must be a whole number");
  for (const std::string text : {"", "half", "0.5.1", "0,5", "+"})
    expect_refused("share", text, "share is '" + text + "', must be a number");
  expect_refused("center", "maybe", "center is 'maybe', must be true or false");
  expect_refused("shape", "square", "shape is 'square', must be round, long or flat");
  EXPECT_EQ(options_.count, 3);
  EXPECT_EQ(options_.shape, Shape::Long);
}

TEST_F(Fields, NumbersThatDoNotFitAreRefused) {
  expect_refused("count", "2147483648",
                 "count is '2147483648', must be between -2147483648 and 2147483647");
  expect_refused("large", "9223372036854775808",
                 "large is '9.223372036854776e+18', must be between -9223372036854775808 and "
                 "9223372036854775807");
  expect_refused("seed", "-1", "seed is '-1', must be between 0 and 9223372036854775807");
  EXPECT_EQ(options_.count, 3);
  EXPECT_EQ(options_.seed, 1u);
}

TEST_F(Fields, SeedsEndWhereJsonNumbersDo) {
  field("seed").set_from_text("9223372036854775807");
  EXPECT_EQ(options_.seed, 9223372036854775807u);
  EXPECT_NO_THROW(validate_options(options_));
  options_.seed = 9223372036854775808u;
  try {
    validate_options(options_);
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "seed is 9223372036854775808, must be at most 9223372036854775807");
  }
}

TEST_F(Fields, WrongKindsAreRefused) {
  EXPECT_THROW(field("count").set(FieldValue(true)), InvalidArgument);
  EXPECT_THROW(field("count").set(FieldValue(std::string("5"))), InvalidArgument);
  EXPECT_THROW(field("count").set(FieldValue(2.5)), InvalidArgument);
  EXPECT_THROW(field("count").set(FieldValue(std::nan(""))), InvalidArgument);
  EXPECT_THROW(field("share").set(FieldValue(true)), InvalidArgument);
  EXPECT_THROW(field("center").set(FieldValue(int64_t{1})), InvalidArgument);
  EXPECT_THROW(field("name").set(FieldValue(true)), InvalidArgument);
  EXPECT_THROW(field("shape").set(FieldValue(int64_t{1})), InvalidArgument);
  field("count").set(FieldValue(1e3));
  EXPECT_EQ(options_.count, 1000);
}

TEST_F(Fields, ValuesOutOfRangeAreRefusedByNameValueAndRule) {
  expect_refused("count", "0", "count is 0, must be at least 1");
  expect_refused("share", "1.5", "share is 1.5, must be between 0 and 1");
  expect_refused("share", "-0.25", "share is -0.25, must be between 0 and 1");
  expect_refused("scale", "0", "scale is 0, must be above 0");
  expect_refused("share", "nan", "share is NaN, must be a number");
}

TEST_F(Fields, EdgesOfRangesAreAllowed) {
  options_.count = 1;
  options_.share = 0;
  EXPECT_NO_THROW(validate_fields(fields_));
  options_.share = 1;
  options_.scale = INFINITY;
  EXPECT_NO_THROW(validate_options(options_));
}

TEST_F(Fields, ValidateFindsDefaultsAndEnumsThatAreWrong) {
  options_.shape = static_cast<Shape>(17);
  try {
    validate_options(options_);
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "shape has no such value, must be round, long or flat");
  }
}

TEST_F(Fields, TextOfAValueParsesBackToTheSameValue) {
  for (const double value : {0.1, 1.0, 1e-300, 1e300, 1.0 / 3, 123456789.0, 5e-324}) {
    field("share").set_from_text(to_text(FieldValue(value)));
    EXPECT_EQ(options_.share, value);
  }
  EXPECT_EQ(to_text(FieldValue(1.0)), "1");
  EXPECT_EQ(to_text(FieldValue(0.1)), "0.1");
  EXPECT_EQ(to_text(FieldValue(true)), "true");
  EXPECT_EQ(to_text(FieldValue(false)), "false");
  EXPECT_EQ(to_text(FieldValue(int64_t{-3})), "-3");
}

TEST_F(Fields, TableHasARowAFieldAndEscapesBars) {
  EXPECT_EQ(options_table(fields_),
            "| flag | default | range | meaning |\n"
            "| --- | --- | --- | --- |\n"
            "| `--count`, `-k`, `--num` | `3` | at least 1 | how many |\n"
            "| `--large` | `5` | a whole number | a large number |\n"
            "| `--seed` | `1` | at least 0 | random seed |\n"
            "| `--share` | `0.25` | between 0 and 1 | between nothing and all |\n"
            "| `--scale` | `1` | above 0 | unit a\\|b |\n"
            "| `--center` | `true` | true or false | subtract the mean |\n"
            "| `--name` | `x\\|y` |  | free text |\n"
            "| `--shape`, `--form` | `long` | round, long or flat | which shape |\n");
}

struct WordOptions {
  int words = 5;
  double tau = 0.5;
};

template <class Visitor>
void visit_fields(WordOptions& o, Visitor&& v) {
  v("words", o.words, at_least(1).or_word("auto", -1), "how many");
  v("tau", o.tau, above(0).or_word("auto", -1), "weight");
}

TEST(FieldWords, ANameReplacesANumberOutsideTheRange) {
  WordOptions options;
  const std::vector<Field> fields = fields_of(options);
  for (const Field& field : fields) {
    field.set_from_text("auto");
    EXPECT_EQ(field.get(), FieldValue("auto"));
    field.validate();
  }
  EXPECT_EQ(options.words, -1);
  EXPECT_EQ(options.tau, -1);
  fields[0].set(int64_t{7});
  EXPECT_EQ(options.words, 7);
  EXPECT_EQ(fields[0].range_text(), "at least 1 or auto");
  EXPECT_THROW(fields[0].set_from_text("many"), InvalidArgument);
  EXPECT_THROW(fields[0].set(std::string("many")), InvalidArgument);
  fields[0].set_from_text("0");
  EXPECT_THROW(fields[0].validate(), InvalidArgument);
  for (const Field& field : fields)  // the number behind the name is not accepted in its place
    EXPECT_THROW(field.set_from_text("-1"), InvalidArgument);
}

}  // namespace
}  // namespace milieu
