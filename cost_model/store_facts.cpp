#include "cost_model/store_facts.h"

#include <algorithm>

namespace farm {
namespace {

struct Site {
  const Store* store;
  std::vector<LoopSite> loops;
  int guards;
};

class SiteCollector {
 public:
  void collect(const Stmt& stmt) {
    if (!stmt) return;
    if (const auto* loop = stmt->as<For>()) return enter(*loop);
    if (const auto* store = stmt->as<Store>()) return sites.push_back({store, loops_, guards_});
    if (const auto* branch = stmt->as<If>()) return enter(*branch);
    if (const auto* place = stmt->as<Allocate>()) return collect(place->body);
    if (const auto* block = stmt->as<Block>()) return collect(block->init), collect(block->body);
    if (const auto* seq = stmt->as<Seq>())
      for (const Stmt& each : seq->stmts) collect(each);
  }

  std::vector<Site> sites;

 private:
  void enter(const For& loop) {
    loops_.push_back({loop.var, const_int(loop.extent).value_or(1), loop.kind});
    collect(loop.body);
    loops_.pop_back();
  }

  void enter(const If& branch) {
    ++guards_;
    collect(branch.then);
    collect(branch.otherwise);
    --guards_;
  }

  std::vector<LoopSite> loops_;
  int guards_ = 0;
};

bool is_product(const ExprNode& e) { return e.kind == ExprKind::Mul && e.dtype.is_float(); }

// Counts operations and notes every load on the way.
class ExprWalker {
 public:
  ExprWalker(StoreFacts& facts) : facts_(facts) {}

  void walk(const ExprNode& e) {
    count(e);
    if (e.kind == ExprKind::Load) note(e.buffer, std::span(e.args).first(e.args.size() - e.masked), false);
    for (const Expr& arg : e.args) walk(*arg);
  }

  void note(const Buffer& buffer, std::span<const Expr> indices, bool write) {
    auto use = std::ranges::find_if(facts_.buffers, [&](const BufferUse& u) { return u.buffer == buffer; });
    if (use == facts_.buffers.end()) use = facts_.buffers.insert(use, BufferUse{.buffer = buffer});
    (write ? use->writes : use->reads) = true;
    auto terms = index_terms(*buffer, indices, facts_.loops);
    if (std::ranges::find(use->accesses, terms) == use->accesses.end()) use->accesses.push_back(std::move(terms));
  }

 private:
  void count(const ExprNode& e) {
    OpCounts& ops = facts_.ops;
    switch (e.kind) {
      case ExprKind::Add:
      case ExprKind::Sub:
        if (!e.dtype.is_float())
          ++ops.integer;
        else if (is_product(*e.args[0]) || is_product(*e.args[1]))
          ++ops.fma, --ops.mul;  // the Mul below adds one
        else
          ++ops.add;
        return;
      case ExprKind::Mul:
        ++(e.dtype.is_float() ? ops.mul : ops.integer);
        return;
      case ExprKind::Div:
        ++ops.div;
        return;
      case ExprKind::Min:
      case ExprKind::Max:
        ++(e.dtype.is_float() ? ops.min_max : ops.integer);
        return;
      case ExprKind::FloorDiv:
      case ExprKind::FloorMod:
        ++ops.integer;
        return;
      case ExprKind::Eq:
      case ExprKind::Ne:
      case ExprKind::Lt:
      case ExprKind::Le:
        ++ops.compare;
        return;
      case ExprKind::Select:
        ++ops.select;
        return;
      case ExprKind::Call:
        ++ops.call;
        return;
      default:
        return;
    }
  }

  StoreFacts& facts_;
};

void read_expressions(StoreFacts& facts) {
  ExprWalker walker(facts);
  walker.note(facts.store->buffer, facts.store->indices, true);
  for (const Expr& index : facts.store->indices) walker.walk(*index);
  walker.walk(*facts.store->value);
}

void measure_footprints(StoreFacts& facts) {
  for (BufferUse& use : facts.buffers) {
    const Footprint whole = footprint_of_buffer(*use.buffer);
    use.at_depth.resize(facts.loops.size() + 1);
    for (size_t depth = 0; depth <= facts.loops.size(); ++depth) {
      Footprint sum{0, 0};
      for (const auto& terms : use.accesses) {
        const Footprint one = footprint(*use.buffer, terms, static_cast<int>(depth));
        sum.elements += one.elements, sum.lines += one.lines;
      }
      use.at_depth[depth] = {std::min(sum.elements, whole.elements), std::min(sum.lines, whole.lines)};
    }
  }
  std::ranges::stable_sort(facts.buffers, [](const BufferUse& a, const BufferUse& b) {
    if (a.in_memory() != b.in_memory()) return a.in_memory();
    return a.at_depth[0].elements * a.element_bytes() > b.at_depth[0].elements * b.element_bytes();
  });
}

bool moves_with(const BufferUse& use, int loop) {
  return std::ranges::any_of(use.accesses, [&](const auto& terms) { return farm::moves_with(terms, loop); });
}

// The innermost loop that the buffer does not move with repeats the same accesses after everything inside it.
void find_loop_reuse(StoreFacts& facts) {
  for (BufferUse& use : facts.buffers)
    for (size_t loop = facts.loops.size(); loop-- > 0;) {
      if (facts.loops[loop].extent <= 1 || moves_with(use, static_cast<int>(loop))) continue;
      use.reuse_in_loop = true;
      use.reuse_count = static_cast<double>(facts.loops[loop].extent);
      use.reuse_distance_iterations = facts.trip_count(loop + 1, facts.loops.size());
      use.reuse_distance_bytes = facts.memory_bytes(loop + 1);
      break;
    }
}

// Without such a loop: produced or consumed by another store, with everything inside the common loops in between.
void find_serial_reuse(std::vector<StoreFacts>& all) {
  for (StoreFacts& facts : all)
    for (BufferUse& use : facts.buffers) {
      if (use.reuse_in_loop) continue;
      for (const StoreFacts& other : all) {
        if (&other == &facts) continue;
        if (std::ranges::none_of(other.buffers, [&](const BufferUse& u) { return u.buffer == use.buffer; })) continue;
        const size_t common = std::ranges::mismatch(facts.loops, other.loops, {}, &LoopSite::var, &LoopSite::var).in1 -
                              facts.loops.begin();
        use.reuse_in_series = true;
        use.reuse_count += 1;
        use.reuse_distance_iterations = facts.trip_count(common, facts.loops.size());
        use.reuse_distance_bytes = facts.memory_bytes(common);
      }
    }
}

}  // namespace

double StoreFacts::trip_count(size_t first, size_t last) const {
  double product = 1;
  for (size_t i = first; i < last; ++i) product *= static_cast<double>(loops[i].extent);
  return product;
}

double StoreFacts::memory_bytes(size_t depth) const {
  double bytes = 0;
  for (const BufferUse& use : buffers)
    if (use.in_memory()) bytes += use.bytes(depth);
  return bytes;
}

std::vector<StoreFacts> store_facts(const Module& module) {
  SiteCollector collector;
  collector.collect(module.run().body);
  std::vector<StoreFacts> all;
  for (Site& site : collector.sites) {
    StoreFacts& facts = all.emplace_back();
    facts.loops = std::move(site.loops);
    facts.store = site.store;
    facts.guards = site.guards;
    read_expressions(facts);
    measure_footprints(facts);
    find_loop_reuse(facts);
  }
  find_serial_reuse(all);
  return all;
}

}  // namespace farm
