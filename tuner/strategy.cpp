#include "tuner/strategy.h"

#include <algorithm>

#include "base/text.h"
#include "tuner/evolutionary_search.h"
#include "tuner/grid_search.h"
#include "tuner/random_search.h"

namespace farm {
namespace {

struct NamedStrategy {
  std::string_view name;
  std::unique_ptr<Strategy> (*make)();
};

template <class T>
std::unique_ptr<Strategy> make() {
  return std::make_unique<T>();
}

constexpr NamedStrategy kStrategies[] = {
    {"evolutionary", make<EvolutionarySearch>},
    {"random", make<RandomSearch>},
    {"grid", make<GridSearch>},
};

}  // namespace

Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name) {
  for (const NamedStrategy& known : kStrategies)
    if (known.name == name) return known.make();
  const std::vector<std::string> names = strategy_names();
  return fail(ErrorCode::InvalidArgument, "unknown strategy '", printable(name), "'", did_you_mean(name, names),
              "; use ", join(names, ", "));
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const NamedStrategy& known : kStrategies) names.emplace_back(known.name);
  return names;
}

}  // namespace farm
