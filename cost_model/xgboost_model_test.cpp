#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/rng.h"
#include "cost_model/cost_model.h"
#include "testing.h"

namespace farm {
namespace {

// Rows of chance whose latency follows from three columns, one of them in a valley, with a little noise.
std::vector<Example> synthetic_examples(size_t count, uint64_t seed, std::string task = "a", double scale = 1000) {
  Rng rng(seed);
  std::vector<Example> examples;
  for (size_t i = 0; i < count; ++i) {
    std::vector<float> row(feature_names().size(), 1.0f);
    for (size_t c = 0; c < 12; ++c) row[c] = static_cast<float>(rng.uniform() * 10);
    const double valley = std::abs(row[5] - 6.0);
    const double latency = scale * (1 + valley + 0.5 * row[7] + (row[9] > 5 ? 3 : 0)) * (1 + 0.02 * rng.uniform());
    examples.push_back({{row}, latency, task});
  }
  return examples;
}

std::vector<FeatureRows> programs_of(std::span<const Example> examples) {
  std::vector<FeatureRows> programs;
  for (const Example& example : examples) programs.push_back(example.features);
  return programs;
}
std::vector<double> latencies_of(std::span<const Example> examples) {
  std::vector<double> latencies;
  for (const Example& example : examples) latencies.push_back(example.latency_ns);
  return latencies;
}

}  // namespace

TEST_CASE("a model ranks programs that it has not seen") {
  auto model = make_xgboost_model(1);
  REQUIRE(model->fit(synthetic_examples(500, 1)));
  const auto unseen = synthetic_examples(200, 2);
  const ModelQuality quality = judge(model->predict(programs_of(unseen)), latencies_of(unseen));
  CHECK(quality.pairwise > 0.9);
  CHECK(quality.peak5 > 0.8);
  CHECK(quality.examples == 200);
}

TEST_CASE("tasks of unlike size are learned together, each against its own best") {
  auto examples = synthetic_examples(200, 3, "small", 10);
  for (Example& example : synthetic_examples(200, 4, "large", 1e6)) examples.push_back(std::move(example));
  auto model = make_xgboost_model(1);
  REQUIRE(model->fit(examples));
  const auto unseen = synthetic_examples(200, 5, "large", 1e6);
  CHECK(judge(model->predict(programs_of(unseen)), latencies_of(unseen)).pairwise > 0.88);
}

TEST_CASE("failed programs are learned as the slowest") {
  auto examples = synthetic_examples(200, 6);
  for (Example& example : examples)
    if (example.features[0][11] > 5) example.latency_ns = 0;
  auto model = make_xgboost_model(1);
  REQUIRE(model->fit(examples));
  const auto unseen = synthetic_examples(200, 7);
  const auto predicted = model->predict(programs_of(unseen));
  double failing = 0, working = 0, failing_count = 0;
  for (size_t i = 0; i < unseen.size(); ++i) {
    const bool fails = unseen[i].features[0][11] > 5;
    (fails ? failing : working) += predicted[i];
    failing_count += fails;
  }
  CHECK(failing / failing_count < 0.5 * working / (200 - failing_count));
}

TEST_CASE("equal examples give equal predictions") {
  const auto examples = synthetic_examples(150, 8), unseen = synthetic_examples(50, 9);
  auto one = make_xgboost_model(1), other = make_xgboost_model(1);
  REQUIRE(one->fit(examples));
  REQUIRE(other->fit(examples));
  CHECK(one->predict(programs_of(unseen)) == other->predict(programs_of(unseen)));
}

TEST_CASE("a saved model predicts the same once loaded") {
  const auto unseen = synthetic_examples(50, 10);
  auto model = make_xgboost_model(1);
  REQUIRE(model->fit(synthetic_examples(150, 11)));
  const auto bytes = model->save();
  REQUIRE(bytes);
  auto loaded = make_xgboost_model(2);
  REQUIRE(loaded->load(*bytes));
  CHECK(loaded->trained());
  CHECK(loaded->predict(programs_of(unseen)) == model->predict(programs_of(unseen)));
}

TEST_CASE("a model of another feature version is refused by name") {
  auto model = make_xgboost_model(1);
  REQUIRE(model->fit(synthetic_examples(50, 12)));
  auto bytes = model->save().value();
  const std::string now = "features=" + std::to_string(kFeatureVersion), then = "features=9";
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text.replace(text.find(now), now.size(), then);
  const auto status = make_xgboost_model(1)->load(std::as_bytes(std::span(text)));
  REQUIRE(!status);
  CHECK(status.error().message == "cost model: the file is of feature version 9; this program reads version " +
                                      std::to_string(kFeatureVersion) + ", so train a new model");
}

TEST_CASE("bytes that are no model are refused, cut short or foreign") {
  auto model = make_xgboost_model(1);
  REQUIRE(model->fit(synthetic_examples(50, 13)));
  auto bytes = model->save().value();
  bytes.resize(bytes.size() / 2);
  CHECK(!make_xgboost_model(1)->load(bytes));
  const std::string_view foreign = "SQLite format 3";
  CHECK(!make_xgboost_model(1)->load(std::as_bytes(std::span(foreign))));
}

TEST_CASE("without examples there is nothing to learn, save or predict") {
  auto model = make_xgboost_model(1);
  CHECK(!model->fit({}));
  CHECK(!model->trained());
  CHECK(!model->save());
  CHECK(model->predict(programs_of(synthetic_examples(3, 14))) == std::vector<double>(3, 0.0));
}

TEST_CASE("judging counts pairs in the right order and what the first picks reach") {
  const std::vector<double> latency{100, 200, 400, 0};
  const std::vector<double> right{4, 3, 2, 1}, wrong{1, 2, 3, 4}, undecided{1, 1, 1, 1};
  CHECK(judge(right, latency).pairwise == 1);
  CHECK(judge(right, latency).peak1 == 1);
  CHECK(judge(wrong, latency).pairwise == 0);
  CHECK(judge(wrong, latency).peak1 == 0);
  CHECK(judge(wrong, latency).peak5 == 1);
  CHECK(judge(undecided, latency).pairwise == 0.5);
}

}  // namespace farm
