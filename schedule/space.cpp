#include "schedule/space.h"

#include <algorithm>

#include "base/text.h"
#include "schedule/lower.h"
#include "schedule/templates/templates.h"

namespace farm {

std::string Candidate::text() const {
  std::string text = variant + "{";
  for (size_t i = 0; i < choices.size(); ++i)
    text += (i ? "," : "") + choices[i].first + "=" + std::to_string(choices[i].second);
  return text + "}";
}

int64_t Candidate::choice(std::string_view name) const {
  for (const auto& [key, value] : choices)
    if (key == name) return value;
  FARM_ASSERT(false, "candidate ", text(), " has no decision ", name);
  return 0;
}

Result<Candidate> candidate_from_text(std::string_view text) {
  auto wrong = [&] { return fail(ErrorCode::InvalidArgument, "no candidate: ", printable(text)); };
  size_t open = text.find('{');
  if (open == std::string_view::npos || !text.ends_with('}')) return wrong();
  Candidate candidate{std::string(text.substr(0, open)), {}};
  for (const auto& piece : split(text.substr(open + 1, text.size() - open - 2), ',')) {
    size_t equals = piece.find('=');
    if (equals == std::string::npos) return wrong();
    auto value = parse_int(std::string_view(piece).substr(equals + 1));
    if (!value) return wrong();
    candidate.choices.emplace_back(piece.substr(0, equals), *value);
  }
  return candidate;
}

ScheduleSpace::ScheduleSpace(Task task, Target target, int threads, std::vector<Variant> variants, Candidate fallback)
    : task_(std::move(task)), target_(std::move(target)), threads_(threads), variants_(std::move(variants)),
      default_(std::move(fallback)) {}

const Variant* ScheduleSpace::variant(std::string_view name) const {
  for (const auto& variant : variants_)
    if (variant.name == name) return &variant;
  return nullptr;
}

static double combinations(const Variant& variant) {
  double count = 1;
  for (const auto& decision : variant.decisions) count *= static_cast<double>(decision.options.size());
  return count;
}

double ScheduleSpace::size() const {
  double sum = 0;
  for (const auto& variant : variants_) sum += combinations(variant);
  return sum;
}

bool ScheduleSpace::contains(const Candidate& candidate) const {
  const Variant* found = variant(candidate.variant);
  if (!found || found->decisions.size() != candidate.choices.size()) return false;
  for (size_t i = 0; i < candidate.choices.size(); ++i) {
    const auto& decision = found->decisions[i];
    const auto& [name, value] = candidate.choices[i];
    if (decision.name != name || !std::count(decision.options.begin(), decision.options.end(), value)) return false;
  }
  return found->allowed(candidate);
}

std::optional<Candidate> ScheduleSpace::sample(Rng& rng) const {
  constexpr int kTries = 2000;
  for (int i = 0; i < kTries; ++i) {
    const Variant& variant = variants_[rng.below(variants_.size())];
    Candidate candidate{variant.name, {}};
    for (const auto& decision : variant.decisions)
      candidate.choices.emplace_back(decision.name, decision.options[rng.below(decision.options.size())]);
    if (variant.allowed(candidate)) return candidate;
  }
  return std::nullopt;
}

Candidate ScheduleSpace::at(uint64_t n) const {
  for (const auto& variant : variants_) {
    auto count = static_cast<uint64_t>(combinations(variant));
    if (n >= count) {
      n -= count;
      continue;
    }
    Candidate candidate{variant.name, {}};
    for (const auto& decision : variant.decisions) {
      candidate.choices.emplace_back(decision.name, decision.options[n % decision.options.size()]);
      n /= decision.options.size();
    }
    return candidate;
  }
  FARM_ASSERT(false, "combination ", n, " of a space of ", size());
  return {};
}

static Result<Module> scheduled_module(const ScheduleSpace& space, const Candidate& candidate, std::vector<std::string>& trace) {
  const Variant* variant = space.variant(candidate.variant);
  if (!variant) return fail(ErrorCode::InvalidArgument, "no variant ", candidate.variant, " of ", space.task().op);
  return variant->apply(candidate, trace);
}

Result<Program> instantiate(const ScheduleSpace& space, const Candidate& candidate) {
  Program program;
  FARM_TRY(Module scheduled, scheduled_module(space, candidate, program.trace));
  FARM_TRY(program.scheduled, resolve(scheduled, space.threads()));
  FARM_TRY(program.lowered, lower(program.scheduled, space.threads()));
  program.hash = module_hash(program.lowered);
  return program;
}

Result<Module> instantiate_for_features(const ScheduleSpace& space, const Candidate& candidate) {
  std::vector<std::string> trace;
  FARM_TRY(Module scheduled, scheduled_module(space, candidate, trace));
  return resolve(scheduled, space.threads());
}

}  // namespace farm
