#include <algorithm>
#include <limits>
#include <numeric>

#include "cost_model/cost_model.h"

namespace farm {
namespace {

// Failed ones are the slowest.
double order_key(double latency_ns) { return latency_ns > 0 ? latency_ns : std::numeric_limits<double>::infinity(); }

double pairwise_accuracy(std::span<const double> predicted, std::span<const double> latency_ns) {
  double right = 0, pairs = 0;
  for (size_t i = 0; i < predicted.size(); ++i)
    for (size_t j = i + 1; j < predicted.size(); ++j) {
      const double a = order_key(latency_ns[i]), b = order_key(latency_ns[j]);
      if (a == b) continue;
      pairs += 1;
      if (predicted[i] == predicted[j])
        right += 0.5;  // no opinion is a coin
      else
        right += (predicted[i] > predicted[j]) == (a < b);
    }
  return pairs > 0 ? right / pairs : 0.5;
}

double peak_at(size_t k, const std::vector<size_t>& by_prediction, std::span<const double> latency_ns) {
  double best = order_key(0), found = order_key(0);
  for (size_t rank = 0; rank < by_prediction.size(); ++rank) {
    const double latency = order_key(latency_ns[by_prediction[rank]]);
    best = std::min(best, latency);
    if (rank < k) found = std::min(found, latency);
  }
  return found == order_key(0) ? 0 : best / found;
}

}  // namespace

ModelQuality judge(std::span<const double> predicted, std::span<const double> latency_ns) {
  FARM_ASSERT(predicted.size() == latency_ns.size(), predicted.size(), " predictions for ", latency_ns.size());
  std::vector<size_t> by_prediction(predicted.size());
  std::iota(by_prediction.begin(), by_prediction.end(), size_t{0});
  std::ranges::stable_sort(by_prediction, [&](size_t a, size_t b) { return predicted[a] > predicted[b]; });
  return {.pairwise = pairwise_accuracy(predicted, latency_ns),
          .peak1 = peak_at(1, by_prediction, latency_ns),
          .peak5 = peak_at(5, by_prediction, latency_ns),
          .examples = predicted.size()};
}

}  // namespace farm
