#include "tuner/guide.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "tuner/choice_features.h"

namespace farm {
namespace {

constexpr size_t kFirstCheckpoint = 16;
constexpr size_t kLeastWorking = 10;
constexpr size_t kLearnFastest = 256, kLearnLatest = 768;  // bounds what a fit costs in a long run
constexpr size_t kJudgeLatest = 256;
constexpr size_t kFeaturesKept = 8192;

// The largest checkpoint within `records`; 0 before the first.
size_t checkpoint(size_t records) {
  size_t last = 0;
  for (size_t next = kFirstCheckpoint; next <= records; next += std::max<size_t>(8, next / 8)) last = next;
  return last;
}

size_t working(const std::vector<Known>& known, size_t records) {
  return static_cast<size_t>(std::count_if(known.begin(), known.begin() + static_cast<ptrdiff_t>(records),
                                           [](const Known& k) { return k.latency_ns > 0; }));
}

// All of the first `records`, or the fastest and the latest of them.
std::vector<size_t> lessons(const std::vector<Known>& known, size_t records) {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < records; ++i)
    if (known[i].latency_ns > 0) chosen.push_back(i);
  std::ranges::stable_sort(chosen, {}, [&](size_t i) { return known[i].latency_ns; });
  if (chosen.size() > kLearnFastest) chosen.resize(kLearnFastest);
  for (size_t i = records > kLearnLatest ? records - kLearnLatest : 0; i < records; ++i) chosen.push_back(i);
  std::ranges::sort(chosen);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(clock_.now() - start_).count(); }

 private:
  SteadyClock clock_;
  Clock::time_point start_ = clock_.now();
  double& seconds_;
};

}  // namespace

void Guide::learn(const SearchState& state) {
  const Stopwatch watch(learn_seconds_);
  follow(state);
  catch_up(state);
  judge_arrivals(state);
  const size_t records = checkpoint(state.known.size());
  if (records != fitted_) fit(state, records);
}

std::vector<double> Guide::screen(const ScheduleSpace& space, const std::vector<Candidate>& candidates) const {
  std::vector<FeatureRows> choices;
  choices.reserve(candidates.size());
  for (const Candidate& candidate : candidates) choices.push_back(choice_features(space, candidate));
  return choice_model_->predict(choices);
}

std::vector<double> Guide::score(const ScheduleSpace& space, const std::vector<Candidate>& candidates) {
  std::vector<FeatureRows> nests;
  nests.reserve(candidates.size());
  for (const Candidate& candidate : candidates) nests.push_back(features(space, candidate));
  const std::vector<double> by_nest = nest_model_->predict(nests);
  std::vector<double> scores = screen(space, candidates);
  for (size_t i = 0; i < candidates.size(); ++i)
    scores[i] = nests[i].empty() ? std::numeric_limits<double>::lowest() : (scores[i] + by_nest[i]) / 2;
  return scores;
}

std::optional<ModelQuality> Guide::quality() const {
  if (!ready() || predicted_.size() < 2) return std::nullopt;
  const size_t from = predicted_.size() > kJudgeLatest ? predicted_.size() - kJudgeLatest : 0;
  return judge(std::span(predicted_).subspan(from), std::span(latency_ns_).subspan(from));
}

// Another space, or fewer records than before: nothing that was learned holds any more.
void Guide::follow(const SearchState& state) {
  if (space_ == &state.space && judged_ <= state.known.size()) return;
  const double learn_seconds = learn_seconds_;
  *this = Guide{};
  learn_seconds_ = learn_seconds;
  space_ = &state.space;
}

// A run that goes on from stored records judges a model of the first three quarters by the last quarter.
void Guide::catch_up(const SearchState& state) {
  if (ready()) return;
  const size_t records = checkpoint(state.known.size() * 3 / 4);
  if (records > fitted_) fit(state, records);
}

void Guide::judge_arrivals(const SearchState& state) {
  const std::vector<Known>& known = state.known;
  if (ready()) {
    std::vector<Candidate> arrived;
    for (size_t i = std::max(judged_, fitted_); i < known.size(); ++i)
      if (state.space.contains(known[i].candidate)) {
        arrived.push_back(known[i].candidate);
        latency_ns_.push_back(known[i].latency_ns);
      }
    // As a speed, which is comparable between models whose best differs.
    for (const double score : this->score(state.space, arrived)) predicted_.push_back(std::max(0.0, score) / best_ns_);
  }
  judged_ = known.size();
}

void Guide::fit(const SearchState& state, size_t records) {
  fitted_ = records;
  if (working(state.known, records) < kLeastWorking) return;
  std::vector<Example> by_choice, by_nest;
  best_ns_ = std::numeric_limits<double>::infinity();
  for (const size_t i : lessons(state.known, records)) {
    const Known& known = state.known[i];
    const FeatureRows& nest = features(state.space, known.candidate);
    if (nest.empty()) continue;  // of an older template: says nothing about this space
    by_choice.push_back({choice_features(state.space, known.candidate), known.latency_ns, {}});
    by_nest.push_back({nest, known.latency_ns, {}});
    if (known.latency_ns > 0) best_ns_ = std::min(best_ns_, known.latency_ns);
  }
  auto choice_model = make_xgboost_model(state.seed), nest_model = make_xgboost_model(state.seed);
  if (!choice_model->fit(by_choice) || !nest_model->fit(by_nest)) return;
  choice_model_ = std::move(choice_model);
  nest_model_ = std::move(nest_model);
}

const FeatureRows& Guide::features(const ScheduleSpace& space, const Candidate& candidate) {
  if (features_.size() >= kFeaturesKept) features_.clear();
  const auto [entry, is_new] = features_.try_emplace(candidate.text());
  if (is_new && space.contains(candidate))
    if (const auto module = instantiate_for_features(space, candidate))
      entry->second = extract_features(*module, space.target(), space.threads());
  return entry->second;
}

}  // namespace farm
