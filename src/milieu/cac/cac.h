// SPDX-License-Identifier: Apache-2.0
// Context-aware clustering [Yuan08]: samples cluster into words, the groups they occur in cluster
// into phrases (sets of words), and each level corrects the other. The public interface; the loop
// is in cac.cc, the steps in cac_steps.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/inputs.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/ranks/team.h"
#include "milieu/base/summary.h"
#include "milieu/cac/context_groups.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// UnitVariance divides the squared distances of each view by the view's total variance, so that
// views of any unit and width count equally; Raw leaves them unchanged.
enum class CacScaling { UnitVariance, Raw };
// How a group counts a word: how often it occurs (every step is an exact minimum), or whether it
// occurs at all (samples are then moved one at a time).
enum class CacTransactions { Counts, Binary };
// How a restart is initialised. Words: words by k-means, then phrases. Phrases: phrases first, then
// words inside them. Random: random labels. Auto: the first two in turn, from the eleventh restart
// on all three.
enum class CacInit { Auto, Words, Phrases, Random };
// How the first phrases are found: k-means on counts of words, or k-modes on their presence (as in
// the paper).
enum class CacPhraseInit { KMeans, KModes };
// How phrases are found. Shares: k-means on what the members of each group are on average, with
// evidence passed on between groups that overlap; for positions and views. Counts: by the number of
// words of the phrase in the group, as in the paper. Auto: shares for positions and views, but
// counts where words are so few that a mixture model tries every split of them over the phrases.
enum class CacPhraseModel { Auto, Shares, Counts };

// Words of the views as text: one number for all of them, or one per view, such as "10,20,auto";
// auto finds the number by stability. A number converts, a negative one to auto.
struct CacWords : std::string {
  CacWords(int number) : std::string(number < 0 ? "auto" : std::to_string(number)) {}
  CacWords(std::string text) : std::string(std::move(text)) {}
  CacWords(const char* text) : std::string(text) {}
  // One number per view; -1: by stability. Throws InvalidArgument for an entry that is neither a
  // number of at least 1 nor auto, and for a list of another length than num_views.
  std::vector<int> per_view(size_t num_views) const;
  bool has_auto() const;
};

struct CacOptions {
  CacWords num_words = 25;  // M, of each view
  int num_phrases = 2;      // M~; -1: by stability
  double tau = 0.3;         // lambda relative to the balance of words and context; -1: by stability
  double lambda = -1;       // weight of the context in J; 0: k-means; -1: from tau
  int num_neighbors = 10;   // K: spatial neighbours of a group
  double epsilon = 0;       // above 0: neighbours within this distance instead of K
  // With several views and neither groups nor positions: one more group per sample, made of the
  // sample and this many nearest in all views together. 0: none; -1: a third of a phrase's mean
  // size, at least 2 and at most 10; none above 50,000 samples.
  int view_neighbors = -1;
  CacPhraseModel phrase_model = CacPhraseModel::Auto;
  int lexicon = 50;  // fine words of each view whose shares describe a group
  // How often samples and groups exchange evidence; 0: every sample alone. -1: 10 in space, 3 in
  // views, or 0 there where neighbours do not help.
  int rounds = -1;
  CacScaling scaling = CacScaling::UnitVariance;
  CacTransactions transactions = CacTransactions::Counts;
  CacInit init = CacInit::Auto;
  CacPhraseInit phrase_init = CacPhraseInit::KMeans;
  int num_restarts = 10;        // compared under one lambda; the lowest J is kept
  bool continuation = true;     // raise lambda in steps to its value
  bool reseed = true;           // move empty words and phrases to new places
  bool include_self = true;     // a sample is a member of its spatial group
  int max_iterations = 200;     // nested EM rounds per restart
  double rel_tolerance = 1e-9;  // stop when J falls by less than this fraction
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
};

template <class Visitor>
void visit_fields(CacOptions& o, Visitor&& v) {
  v("num_words", static_cast<std::string&>(o.num_words), anything().alias("words"),
    "visual words of every view, or one number per view such as 10,20,5; auto in place of a number "
    "chooses the most stable");
  v("num_phrases", o.num_phrases, at_least(1).or_word("auto", -1).alias("phrases"),
    "phrases (clusters of groups); auto chooses the most stable number");
  v("tau", o.tau, above(0).or_word("auto", -1),
    "weight of the context, relative to the one that balances words and context initially; auto "
    "chooses the most stable");
  v("lambda", o.lambda, at_least(0).or_word("auto", -1).in_python("context_weight"),
    "absolute weight of the context; 0 is k-means, auto derives it from --tau");
  v("num_neighbors", o.num_neighbors, at_least(1).alias("neighbors"),
    "spatial neighbours that form a group with each sample");
  v("epsilon", o.epsilon, at_least(0),
    "if above 0, a group is a sample and all neighbours within this distance");
  v("view_neighbors", o.view_neighbors, at_least(0).or_word("auto", -1),
    "with several views and no other context: group each sample with this many nearest in all "
    "views together; auto is a third of a phrase's mean size, 2 to 10, or none above 50,000 "
    "samples");
  v("phrase_model", o.phrase_model,
    one_of<CacPhraseModel>({{"auto", CacPhraseModel::Auto},
                            {"shares", CacPhraseModel::Shares},
                            {"counts", CacPhraseModel::Counts}}),
    "with positions or views: find phrases by the average member of each group (shares), or by "
    "counting words as in the paper (counts); auto counts only where positions and few words are "
    "given");
  v("lexicon", o.lexicon, at_least(1), "for shares: fine words per view that describe a group");
  v("rounds", o.rounds, at_least(0).or_word("auto", -1),
    "for shares: how often samples and groups exchange evidence, 0 for samples alone; auto is 10 "
    "with positions, 3 with views, or 0 there if neighbours do not help");
  v("scaling", o.scaling,
    one_of<CacScaling>({{"unit-variance", CacScaling::UnitVariance}, {"raw", CacScaling::Raw}}),
    "scaling of each view's squared distances");
  v("num_restarts", o.num_restarts, at_least(1).alias("restarts"),
    "independent restarts, compared under one lambda; the best is kept");
  v("init", o.init,
    one_of<CacInit>({{"auto", CacInit::Auto},
                     {"words", CacInit::Words},
                     {"phrases", CacInit::Phrases},
                     {"random", CacInit::Random}})
        .alias("start"),
    "what each restart finds first; auto alternates between words and phrases");
  v("phrase_init", o.phrase_init,
    one_of<CacPhraseInit>({{"kmeans", CacPhraseInit::KMeans}, {"kmodes", CacPhraseInit::KModes}})
        .former("k-means", CacPhraseInit::KMeans)
        .former("k-modes", CacPhraseInit::KModes)
        .alias("phrase-start"),
    "how the first phrases are found");
  v("continuation", o.continuation, anything(), "raise lambda to its value in steps");
  v("transactions", o.transactions,
    one_of<CacTransactions>(
        {{"counts", CacTransactions::Counts}, {"binary", CacTransactions::Binary}})
        .advanced(),
    "whether a group counts how often a word occurs, or only that it does");
  v("reseed", o.reseed, anything().advanced(), "move empty words and phrases to new places");
  v("include_self", o.include_self, anything().advanced(),
    "make each sample a member of its spatial group");
  v("max_iterations", o.max_iterations, at_least(1).advanced(),
    "maximum iterations (nested EM rounds) per restart");
  v("rel_tolerance", o.rel_tolerance, at_least(0).advanced(),
    "stop when the objective falls by less than this fraction");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

// Samples with their context. Primitives are the samples of view 0, then those of view 1, ...
struct CacInput {
  std::vector<FloatView> views;           // one or more, n rows each
  const ContextGroups* groups = nullptr;  // over the n samples, or none
  FloatView positions;                    // n x 2 (any width), or empty
  std::span<const int> images;            // n: the image of each sample; empty: all in one
  std::span<const int> initial_words;     // a word of its view for each primitive, or empty
  // A phrase for each group, or empty. Where the only groups are samples and their neighbours in
  // the views, one per sample is enough.
  std::span<const int> initial_phrases;
  const Team* team = nullptr;  // ranks that divide the passes over rows; null: there is one
};

template <class Visitor>
void visit_inputs(CacInput& in, Visitor&& v) {
  v("view", in.views, InputRule{InputKind::Views, "n x any"},
    "a view of the samples in place of INPUT; give it once per view");
  v("groups", in.groups, InputRule{InputKind::Groups, "groups", "context_groups"},
    "groups of samples: row numbers, one group per line, or a .mtx matrix");
  v("links", in.groups, InputRule{InputKind::Links, "links x 2"},
    "links between samples: two row numbers per line, or a square .mtx matrix; a sample and those "
    "linked with it, in either direction, form its group");
  v("positions", in.positions, InputRule{InputKind::Rows, "n x 2"},
    "position of every sample; its spatial neighbours form its group");
  v("images", in.images, InputRule{InputKind::Classes, "n"},
    "image of every sample; neighbours are searched within one image");
  v("initial_words", in.initial_words, InputRule{InputKind::Integers, "views n"},
    "initial word of every sample, view after view; replaces all restarts");
  v("initial_phrases", in.initial_phrases, InputRule{InputKind::Integers, "groups"},
    "initial phrase of every group, for initial_words");
}

// What finds phrases of new groups by shares; empty for phrases by counts.
struct CacEvidence {
  Matrix<float> lexicon;           // fine words of all views x widest view
  std::vector<int> lexicon_words;  // fine words of each view
  std::vector<double> means;       // of the columns of all views
  Matrix<float> phrases;           // phrases x (fine words + columns of all views)
  std::vector<double> weights;     // factor of the shares, factor of the features, rounds

  double word_factor() const { return weights[0]; }
  double feature_factor() const { return weights[1]; }
  int rounds() const { return static_cast<int>(weights[2]); }
};

// What predicts for new samples and groups.
struct CacModel {
  static constexpr std::string_view kKind = "cac";
  static constexpr int kFormatVersion = 2;  // 1 had no evidence
  Matrix<float> prototypes;     // words of all views x widest view; narrower views end in zeros
  std::vector<int> view_dims;   // columns of each view
  std::vector<int> view_words;  // words of each view
  std::vector<double> scales;   // of each view's squared distances
  Matrix<float> compositions;   // phrases x words, 0 or 1; no rows: fitted without context
  double lambda = 0;
  std::string transactions = "counts";
  int num_neighbors = 0;  // of spatial groups; below 0: its absolute value, in all views together
  double epsilon = 0;
  int include_self = 1;
  CacEvidence evidence;

  int num_views() const { return static_cast<int>(view_dims.size()); }
};

template <MaybeConst<CacModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("prototypes", m.prototypes);
  v("view_dims", m.view_dims);
  v("view_words", m.view_words);
  v("scales", m.scales);
  v("compositions", m.compositions);
  v("epsilon", m.epsilon);
  v("include_self", m.include_self);
  v("lambda", m.lambda);
  v("num_neighbors", m.num_neighbors);
  v("transactions", m.transactions);
  visit_optional(v, "evidence_lexicon", m.evidence.lexicon);
  visit_optional(v, "evidence_lexicon_words", m.evidence.lexicon_words);
  visit_optional(v, "evidence_means", m.evidence.means);
  visit_optional(v, "evidence_phrases", m.evidence.phrases);
  visit_optional(v, "evidence_weights", m.evidence.weights);
}

// The objective after one half step.
enum class CacStepKind { Start, Phrases, Words, Prototypes };
const char* to_string(CacStepKind kind);  // "start", "phrases", "words", "prototypes"

struct CacStep {
  CacStepKind kind = CacStepKind::Start;
  int iteration = 0;             // nested EM round, from 1; 0: initial state
  double lambda = 0;             // of the continuation
  double words_objective = 0;    // J1
  double context_objective = 0;  // J2, lambda included
  double objective() const { return words_objective + context_objective; }
};

// Labels at one of the stages that [Yuan08, Fig. 2] shows.
struct CacSnapshot {
  std::string stage;  // "start", "first", "final"
  std::vector<int> words;
  std::vector<int> phrases;
};

struct CacResult {
  // Phrases where there is context: one per group, or per sample with several views. Otherwise
  // words.
  std::vector<int> labels;
  std::vector<int> words;      // one per primitive, counted within its view; -1: never labelled
  std::vector<int> phrases;    // one per group; empty without context
  std::vector<float> margins;  // per primitive: how much more its second best word costs
  std::vector<CacStep> steps;  // of the restart that was kept
  // Initial state, first nested EM round and end of the restart that was kept.
  std::vector<CacSnapshot> snapshots;
  CacModel model;
  RunSummary summary;  // objective: J = J1 + J2 [Yuan08, Eq. 3]
};

// Called after every half step of the current restart with its words and phrases: for error curves
// [Yuan08, Fig. 3f].
struct CacObserver {
  virtual ~CacObserver() = default;
  virtual void on_step(int restart, const CacStep& step, std::span<const int> words,
                       std::span<const int> phrases) = 0;
};

// Throws InvalidArgument for options out of range, for views, positions, groups and initial labels
// that do not match, and for more words or phrases than samples or groups; DataError for entries
// that are not finite.
CacResult fit_cac(const CacInput& input, const CacOptions& options,
                  Monitor& monitor = silent_monitor(), CacObserver* observer = nullptr);

// The groups that `fit_cac` would use: its labels have one entry for each of them (with several
// views, for each of the first n).
ContextGroups make_context(const CacInput& input, const CacOptions& options,
                           Monitor& monitor = silent_monitor());

// Words of samples alone, by their features: for models of one view.
std::vector<int> predict(const CacModel& model, FloatView points, int num_threads = 0);

// Words and phrases of new samples in new groups, found together under the model's words, phrases
// and lambda. `input` is as for fit_cac, without initial labels.
struct CacPrediction {
  std::vector<int> words;    // one per primitive, within its view
  std::vector<int> phrases;  // one per group
  std::vector<int> labels;   // as in CacResult
};
CacPrediction predict_groups(const CacModel& model, const CacInput& input, int num_threads = 0);

// "phrase 3 = words 4, 17, 20": one line per phrase; with several views words are "view:word".
std::vector<std::string> describe_phrases(const CacModel& model);

}  // namespace milieu
