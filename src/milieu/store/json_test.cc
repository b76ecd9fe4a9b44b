// SPDX-License-Identifier: Apache-2.0
#include "milieu/store/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/cac/cac.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/kmodes/kmodes.h"
#include "milieu/dcp/dcp.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/exemplar/search/exemplar.h"
#include "milieu/icc/icc_classifier.h"
#include "milieu/store/json_internal.h"

namespace milieu {
namespace {

using internal::Json;
using internal::OrderedJson;
using testing::ElementsAre;

enum class Shape { Round, Long };

struct TestOptions {
  int count = 3;
  bool center = true;
  double weight = 0.5;
  std::string name = "abc";
  Shape shape = Shape::Long;
  uint64_t seed = 1;
};

template <class Visitor>
void visit_fields(TestOptions& o, Visitor&& v) {
  v("count", o.count, at_least(1), "how many");
  v("center", o.center, anything(), "subtract the mean");
  v("weight", o.weight, at_least(0), "of the context");
  v("name", o.name, anything(), "any text");
  v("shape", o.shape, one_of<Shape>({{"round", Shape::Round}, {"long", Shape::Long}}), "of parts");
  v("seed", o.seed, at_least(0), "start");
}

std::string refusal(std::string_view text) {
  TestOptions options;
  try {
    options_from_json(text, fields_of(options), "options.json");
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "not refused";
}

std::vector<std::string> keys_of(const std::string& text) {
  std::vector<std::string> keys;
  const OrderedJson json = OrderedJson::parse(text);
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

RunSummary sample_summary() {
  RunSummary s;
  s.method = "kmeans";
  s.version = "0.1.0";
  s.seed = std::numeric_limits<uint64_t>::max();
  s.termination = Termination::IterationLimit;
  s.message = "stopped";
  s.objective = 0.1;
  s.trace = {3, 0.1};
  s.iterations = 2;
  s.restart = 4;
  s.num_restarts = 10;
  s.seconds = 0.25;
  s.n = 100;
  s.d = 7;
  s.clusters = 2;
  s.sizes = {60, 40};
  s.warnings = {"two \"centres\" are equal"};
  s.extra = {{"gain", 1.5}, {"bandwidths", std::vector<double>{0.5, 2}}, {"sparse", true}};
  return s;
}

TEST(Json, SummaryHasItsKeysInTheFixedOrder) {
  const Metrics metrics;
  EXPECT_THAT(keys_of(summary_to_json(sample_summary(), &metrics)),
              ElementsAre("method", "version", "seed", "termination", "message", "objective",
                          "iterations", "restart", "num_restarts", "seconds", "n", "d", "clusters",
                          "sizes", "warnings", "trace", "gain", "bandwidths", "sparse", "metrics"));
}

TEST(Json, SummaryValuesReadBack) {
  const Json json = Json::parse(summary_to_json(sample_summary()));
  EXPECT_EQ(json["method"], "kmeans");
  EXPECT_EQ(json["seed"].get<uint64_t>(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(json["termination"], "IterationLimit");
  EXPECT_EQ(json["objective"].get<double>(), 0.1);
  EXPECT_EQ(json["sizes"], Json({60, 40}));
  EXPECT_EQ(json["warnings"][0], "two \"centres\" are equal");
  EXPECT_EQ(json["trace"], Json({3.0, 0.1}));
  EXPECT_EQ(json["sparse"], true);
  EXPECT_FALSE(json.contains("metrics"));
}

TEST(Json, EveryKindOfExtraEntryIsWritten) {
  RunSummary s;
  s.extra = {{"b", false},
             {"i", int64_t{-5}},
             {"r", 2.5},
             {"t", std::string("word")},
             {"rs", std::vector<double>{1.5}},
             {"is", std::vector<int64_t>{}},
             {"ts", std::vector<std::string>{"x", "y"}}};
  const Json json = Json::parse(summary_to_json(s));
  EXPECT_EQ(json["b"], false);
  EXPECT_EQ(json["i"], -5);
  EXPECT_EQ(json["r"], 2.5);
  EXPECT_EQ(json["t"], "word");
  EXPECT_EQ(json["rs"], Json({1.5}));
  EXPECT_EQ(json["is"], Json::array());
  EXPECT_EQ(json["ts"], Json({"x", "y"}));
}

TEST(Json, SummaryTextIsOneKeyALine) {
  RunSummary s;
  s.method = "m";
  s.sizes = {1, 2};
  Metrics metrics;
  metrics.n = 3;
  const std::string text = summary_to_json(s, &metrics);
  EXPECT_THAT(text, testing::StartsWith("{\n  \"method\": \"m\",\n"));
  EXPECT_THAT(text, testing::HasSubstr("\n  \"sizes\": [1,2],\n"));
  EXPECT_THAT(text, testing::EndsWith("    \"n\": 3\n  }\n}"));
}

TEST(Json, NonFiniteNumbersBecomeNull) {
  RunSummary s;
  s.objective = std::nan("");
  s.trace = {std::numeric_limits<double>::infinity(), 1};
  const Json json = Json::parse(summary_to_json(s));
  EXPECT_TRUE(json["objective"].is_null());
  EXPECT_TRUE(json["trace"][0].is_null());
}

TEST(Json, NumbersReadBackToTheSameBits) {
  Random random(5);
  RunSummary s;
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(random.next_bits());
    if (std::isfinite(value)) s.trace.push_back(value);
  }
  s.trace.insert(s.trace.end(),
                 {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 1e22, 123456789});
  const auto back = Json::parse(summary_to_json(s))["trace"].get<std::vector<double>>();
  ASSERT_EQ(back.size(), s.trace.size());
  for (size_t i = 0; i < back.size(); ++i)
    EXPECT_EQ(std::bit_cast<uint64_t>(back[i]), std::bit_cast<uint64_t>(s.trace[i])) << s.trace[i];
}

TEST(Json, TextThatIsNotUtf8IsRepaired) {
  RunSummary s;
  s.warnings = {"file \xff.png"};
  EXPECT_EQ(Json::parse(summary_to_json(s))["warnings"][0], "file \xef\xbf\xbd.png");
}

TEST(Json, MetricsHaveTheirKeysInTheFixedOrder) {
  Metrics m;
  m.accuracy = 0.75;
  m.n = 4;
  const std::string text = metrics_to_json(m);
  EXPECT_THAT(keys_of(text),
              ElementsAre("accuracy", "error", "balanced_error", "nmi", "nmi_max", "nmi_sqrt",
                          "ari", "f", "f_pairwise", "precision_pairwise", "recall_pairwise",
                          "f_bcubed", "precision_bcubed", "recall_bcubed", "purity", "num_clusters",
                          "num_classes", "n"));
  EXPECT_EQ(Json::parse(text)["accuracy"], 0.75);
}

TEST(Json, OptionsAreWrittenInTheOrderOfDeclaration) {
  TestOptions options;
  EXPECT_EQ(options_to_json(fields_of(options)),
            "{\n  \"count\": 3,\n  \"center\": true,\n  \"weight\": 0.5,\n  \"name\": \"abc\",\n"
            "  \"shape\": \"long\",\n  \"seed\": 1\n}");
}

TEST(Json, OptionsWithoutFieldsAreAnEmptyObject) { EXPECT_EQ(options_to_json({}), "{}"); }

TEST(Json, OptionsReadBack) {
  TestOptions written{7, false, 0.1, "x,\"y\"", Shape::Round, uint64_t{1} << 62};
  TestOptions read;
  options_from_json(options_to_json(fields_of(written)), fields_of(read), "options.json");
  EXPECT_EQ(read.count, 7);
  EXPECT_FALSE(read.center);
  EXPECT_EQ(read.weight, 0.1);
  EXPECT_EQ(read.name, "x,\"y\"");
  EXPECT_EQ(read.shape, Shape::Round);
  EXPECT_EQ(read.seed, uint64_t{1} << 62);
}

TEST(Json, InfiniteOptionsReadBack) {
  TestOptions written;
  written.weight = std::numeric_limits<double>::infinity();
  TestOptions read;
  options_from_json(options_to_json(fields_of(written)), fields_of(read), "options.json");
  EXPECT_EQ(read.weight, written.weight);
}

TEST(Json, OptionsThatAreNotNamedKeepTheirValue) {
  TestOptions options;
  options.count = 9;
  options_from_json("{\"weight\": 2}", fields_of(options), "options.json");
  EXPECT_EQ(options.count, 9);
  EXPECT_EQ(options.weight, 2);  // a whole number is a number
}

struct RenamedOptions {
  int max_rounds = 3;
  double max_memory_gb = 4;
  Shape init = Shape::Long;
};

template <class Visitor>
void visit_fields(RenamedOptions& o, Visitor&& v) {
  v("max_rounds", o.max_rounds, at_least(1).alias("r").alias("round-limit"), "rounds");
  v("max_memory_gb", o.max_memory_gb, above(0).former("memory_limit", 1e-3), "memory");
  v("init", o.init,
    one_of<Shape>({{"round", Shape::Round}, {"long", Shape::Long}})
        .former("k-round", Shape::Round)
        .alias("start"),
    "how a run is initialised");
}

TEST(Json, FormerNamesAndValuesOfOptionsAreRead) {
  RenamedOptions options;
  options_from_json(R"({"round_limit": 7, "memory_limit": 500, "start": "k-round"})",
                    fields_of(options), "options.json");
  EXPECT_EQ(options.max_rounds, 7);
  EXPECT_EQ(options.max_memory_gb, 0.5);
  EXPECT_EQ(options.init, Shape::Round);
  EXPECT_THAT(keys_of(options_to_json(fields_of(options))),
              ElementsAre("max_rounds", "max_memory_gb", "init"));
  for (const char* text : {R"({"r": 7})", R"({"round-limit": 7})", R"({"memory_limit": 0})"})
    EXPECT_THROW(options_from_json(text, fields_of(options), "options.json"), InvalidArgument)
        << text;
}

// What version 0.1 wrote before fields and values were renamed.
TEST(Json, OptionsOfEarlierVersionsAreRead) {
  const auto read = [](auto options, const char* text) {
    options_from_json(text, fields_of(options), "options.json");
    return options;
  };
  const CacOptions cac = read(CacOptions(), R"({"start": "words", "phrase_start": "k-modes"})");
  EXPECT_EQ(cac.init, CacInit::Words);
  EXPECT_EQ(cac.phrase_init, CacPhraseInit::KModes);
  const DcpOptions dcp = read(DcpOptions(), R"({"starts": "random", "num_crossings": 3})");
  EXPECT_EQ(dcp.init, DcpInit::Random);
  EXPECT_EQ(dcp.search.num_crossings, 3);
  const DlgmmOptions dlgmm = read(DlgmmOptions(), R"({"start": "lda", "start_rounds": 3})");
  EXPECT_EQ(dlgmm.init, DlgmmInit::Lda);
  EXPECT_EQ(dlgmm.init_rounds, 3);
  EXPECT_EQ(read(ExemplarOptions(), R"({"start": "stabilities"})").init, ExemplarInit::Stabilities);
  const auto icc = read(IccClassifierOptions(), R"({"memory_limit": 512, "em_init": "random"})");
  EXPECT_EQ(icc.icc.max_memory_gb, 0.512);
  EXPECT_EQ(icc.init, GmmInit::Random);
  EXPECT_EQ(read(GmmOptions{.init = GmmInit::Random}, R"({"init": "k-means"})").init,
            GmmInit::KMeans);
  EXPECT_EQ(read(KMeansOptions{.init = KMeansInit::Random}, R"({"init": "k-means++"})").init,
            KMeansInit::PlusPlus);
  EXPECT_EQ(read(KModesOptions{.init = KModesInit::Random}, R"({"init": "k-modes++"})").init,
            KModesInit::PlusPlus);
}

TEST(Json, WrongOptionsAreRefusedByName) {
  EXPECT_EQ(refusal("{\"cuont\": 3}"),
            "options.json: cuont is not an option; the options are count, center, weight, name, "
            "shape, seed");
  EXPECT_EQ(refusal("{\"count\": 0}"), "options.json: count is 0, must be at least 1");
  EXPECT_EQ(refusal("{\"count\": 2.5}"), "options.json: count is '2.5', must be a whole number");
  EXPECT_EQ(refusal("{\"center\": 1}"), "options.json: center is '1', must be true or false");
  EXPECT_EQ(refusal("{\"shape\": \"flat\"}"),
            "options.json: shape is 'flat', must be round or long");
  EXPECT_EQ(refusal("{\"weight\": \"much\"}"), "options.json: weight is 'much', must be a number");
  EXPECT_EQ(refusal("{\"weight\": \"nan\"}"), "options.json: weight is NaN, must be a number");
  EXPECT_EQ(refusal("{\"count\": [1,2]}"),
            "options.json: count is [1,2], must be a number, a string, true or false");
  EXPECT_EQ(refusal("{\"count\": null}"),
            "options.json: count is null, must be a number, a string, true or false");
  EXPECT_EQ(refusal("{\"seed\": 9223372036854775808}"),
            "options.json: seed is 9223372036854775808, must be at most 9223372036854775807");
  EXPECT_THAT(refusal("{\"seed\": -1}"),
              testing::StartsWith("options.json: seed is '-1', must be between 0 and "));
}

TEST(Json, OptionsThatAreNotAnObjectAreRefused) {
  EXPECT_EQ(refusal("[1]"), "options.json must hold one JSON object: {\"option\": value, ...}");
  EXPECT_EQ(refusal(""), "options.json is not JSON (line 1, column 1)");
  EXPECT_EQ(refusal("{\n  \"count\": 3,\n  oops}"), "options.json is not JSON (line 3, column 3)");
  EXPECT_EQ(refusal("{\"count\": 3, \"count\": 4}"), "options.json has the key 'count' twice");
  EXPECT_EQ(refusal("{\"weight\": 1e999}"), "options.json has a number that is too large");
  EXPECT_EQ(refusal(std::string(17, '[') + std::string(17, ']')),
            "options.json is nested deeper than 16");
}

TEST(Json, TheSameKeyInDifferentObjectsIsAllowed) {
  const internal::ParsedJson parsed = internal::parse_json(R"([{"a":1},{"a":{"a":2}}])");
  EXPECT_EQ(parsed.problem, "");
  EXPECT_EQ(parsed.value[1]["a"]["a"], 2);
}

}  // namespace
}  // namespace milieu
