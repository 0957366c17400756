#include "cost_model/access.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace farm {
namespace {

using Terms = std::vector<IndexTerm>;

constexpr double kLineBytes = 64;

int loop_number(const Var& var, std::span<const LoopSite> loops) {
  for (size_t i = loops.size(); i-- > 0;)
    if (loops[i].var == var) return static_cast<int>(i);
  return -1;
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// floor(terms / divisor): strides that the divisor divides stay exact, smaller ones advance once every few steps.
void divide(Terms& terms, int64_t divisor) {
  std::erase_if(terms, [&](IndexTerm& term) {
    const int64_t stride = std::abs(term.stride);
    if (stride % divisor == 0) {
      term.stride /= divisor;
      return false;
    }
    term.count = ceil_div(stride * term.count, divisor);
    term.stride = std::max<int64_t>(1, stride / divisor);
    return term.count <= 1;
  });
}

// terms mod modulus: what is a multiple of it vanishes, what reaches beyond it wraps.
void wrap(Terms& terms, int64_t modulus) {
  std::erase_if(terms, [&](IndexTerm& term) {
    const int64_t stride = std::abs(term.stride);
    if (stride % modulus == 0) return true;
    if (stride < modulus) term.count = std::min(term.count, ceil_div(modulus, stride));
    return false;
  });
}

class TermCollector {
 public:
  explicit TermCollector(std::span<const LoopSite> loops) : loops_(loops) {}

  Terms collect(const ExprNode& e) const {
    switch (e.kind) {
      case ExprKind::Var:
        return variable(e.var);
      case ExprKind::Add:
        return sum(collect(*e.args[0]), collect(*e.args[1]));
      case ExprKind::Sub:
        return sum(collect(*e.args[0]), scaled(collect(*e.args[1]), -1));
      case ExprKind::Mul:
        return product(e);
      case ExprKind::FloorDiv:
        return quotient(e, divide);
      case ExprKind::FloorMod:
        return quotient(e, wrap);
      case ExprKind::Min:
      case ExprKind::Max:
        return longer(collect(*e.args[0]), collect(*e.args[1]));
      case ExprKind::Select:
        return longer(collect(*e.args[1]), collect(*e.args[2]));
      case ExprKind::Cast:
      case ExprKind::Broadcast:
      case ExprKind::Ramp:
        return collect(*e.args[0]);
      default:
        return {};
    }
  }

 private:
  Terms variable(const Var& var) const {
    const int loop = loop_number(var, loops_);
    if (loop < 0 || loops_[loop].extent <= 1) return {};
    return {{loop, 1, loops_[loop].extent}};
  }

  Terms product(const ExprNode& e) const {
    if (const auto by = const_int(e.args[1])) return scaled(collect(*e.args[0]), *by);
    if (const auto by = const_int(e.args[0])) return scaled(collect(*e.args[1]), *by);
    return sum(collect(*e.args[0]), collect(*e.args[1]));
  }

  Terms quotient(const ExprNode& e, void (*apply)(Terms&, int64_t)) const {
    Terms terms = collect(*e.args[0]);
    if (const auto by = const_int(e.args[1]); by && *by > 0) apply(terms, *by);
    return terms;
  }

  static Terms sum(Terms a, const Terms& b) {
    for (const IndexTerm& term : b) {
      const auto same =
          std::ranges::find_if(a, [&](const IndexTerm& t) { return t.loop == term.loop && t.count == term.count; });
      if (same == a.end())
        a.push_back(term);
      else
        same->stride += term.stride;
    }
    std::erase_if(a, [](const IndexTerm& term) { return term.stride == 0; });
    return a;
  }

  static Terms scaled(Terms terms, int64_t by) {
    if (by == 0) return {};
    for (IndexTerm& term : terms) term.stride *= by;
    return terms;
  }

  static Terms longer(const Terms& a, const Terms& b) { return b.size() > a.size() ? b : a; }

  std::span<const LoopSite> loops_;
};

// `copies` of a set that spans `span` units and fills `filled` of them, each moved on by `step` units.
void repeat(double& filled, double& span, double copies, double step) {
  if (step >= span)
    filled *= copies;
  else
    filled = std::min(filled * copies, filled + (copies - 1) * step * (filled / span));
  span += (copies - 1) * step;
}

}  // namespace

std::vector<IndexTerm> index_terms(const BufferNode& buffer, std::span<const Expr> indices,
                                   std::span<const LoopSite> loops) {
  const TermCollector collector(loops);
  Terms all;
  int64_t pitch = 1;
  for (size_t d = indices.size(); d-- > 0;) {
    Terms terms = collector.collect(*indices[d]);
    for (IndexTerm& term : terms) all.push_back({term.loop, term.stride * pitch, term.count});
    if (indices.size() == buffer.shape.size()) pitch *= buffer.shape[d];
  }
  std::ranges::stable_sort(all, {}, [](const IndexTerm& term) { return std::abs(term.stride); });
  return all;
}

Footprint footprint_of_buffer(const BufferNode& buffer) {
  const double elements = static_cast<double>(element_count(buffer.shape));
  return {elements, std::ceil(elements * buffer.dtype.bits / 8 / kLineBytes)};
}

Footprint footprint(const BufferNode& buffer, std::span<const IndexTerm> terms, int depth) {
  const double element_bytes = buffer.dtype.bits / 8.0;
  double elements = 1, span = 1;
  double lines = 1, line_span = 1;
  for (const IndexTerm& term : terms) {
    if (term.loop < depth) continue;
    const double step = static_cast<double>(std::abs(term.stride)), copies = static_cast<double>(term.count);
    const bool inside_lines = step * element_bytes < kLineBytes;
    repeat(elements, span, copies, step);
    if (inside_lines)
      lines = line_span = std::max(1.0, std::ceil(span * element_bytes / kLineBytes));
    else
      repeat(lines, line_span, copies, std::ceil(step * element_bytes / kLineBytes));
  }
  const Footprint whole = footprint_of_buffer(buffer);
  return {std::min(elements, whole.elements), std::min(lines, whole.lines)};
}

int64_t stride_of(std::span<const IndexTerm> terms, int loop) {
  for (const IndexTerm& term : terms)  // the smallest stride comes first
    if (term.loop == loop) return term.stride;
  return 0;
}

}  // namespace farm
