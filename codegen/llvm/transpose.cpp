#include "codegen/llvm/transpose.h"

#include <algorithm>

#include "codegen/llvm/address.h"
#include "codegen/llvm/expr_emitter.h"
#include "codegen/llvm/memory_emitter.h"

namespace farm::codegen {
namespace {

struct StridedStore {
  Linear index;
  llvm::Value* value = nullptr;
  int64_t offset() const { return index.lanes[0]; }
};

bool reads(const Expr& expr, const Buffer& buffer) {
  bool found = false;
  visit(expr, [&](const ExprNode& node) { found |= node.buffer == buffer; });
  return found;
}

std::optional<Linear> strided_index(const Environment& env, const Store& store) {
  if (store.mask || store.indices.size() != 1 || store.buffer->dtype.bits != 32) return std::nullopt;
  auto index = env.facts.linear(store.indices[0]);
  if (!index || index->width() < 4 || index->width() % 4 != 0 || index->step().value_or(0) < 2) return std::nullopt;
  return index;
}

bool same_terms(const Linear& a, const Linear& b) {
  return std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(), [](const auto& x, const auto& y) {
    return x.coefficient == y.coefficient && same_expr(x.atom, y.atom);
  });
}

bool same_shape(const Linear& a, const Linear& b) {
  return a.width() == b.width() && a.step() == b.step() && same_terms(a, b);
}

/// Within each block of 4 lanes: a0 b0 a1 b1 (low) or a2 b2 a3 b3 (high), the shuffle that every x86 vector has.
llvm::Value* interleave(llvm::IRBuilder<>& ir, llvm::Value* a, llvm::Value* b, int lanes, bool high) {
  std::vector<int> order;
  for (int block = 0; block < lanes; block += 4)
    for (int i = 0; i < 2; ++i) {
      const int lane = block + i + (high ? 2 : 0);
      order.insert(order.end(), {lane, lane + lanes});
    }
  return ir.CreateShuffleVector(a, b, order);
}

/// Within each block of 4 lanes: the low or the high half of a, then that of b.
llvm::Value* halves(llvm::IRBuilder<>& ir, llvm::Value* a, llvm::Value* b, int lanes, bool high) {
  std::vector<int> order;
  for (int block = 0; block < lanes; block += 4)
    for (int from : {block, block + lanes})
      for (int i = 0; i < 2; ++i) order.push_back(from + i + (high ? 2 : 0));
  return ir.CreateShuffleVector(a, b, order);
}

class GroupWriter {
 public:
  GroupWriter(Environment& env, const Buffer& buffer, const StridedStore& first)
      : ir_(env.ir),
        lanes_(static_cast<int>(first.index.width())),
        bytes_(buffer->dtype.bits / 8),
        element_(memory_type(env, buffer->dtype)),
        pointer_(emit_address(env, env.buffers.at(buffer).pointer, first.index, bytes_)),
        offset_(first.offset()),
        stride_(*first.index.step()) {}

  void write_two(llvm::Value* a, llvm::Value* b) {
    for (const bool high : {false, true}) {
      llvm::Value* pairs = interleave(ir_, a, b, lanes_, high);  // a[l] b[l] a[l+1] b[l+1] in each block
      for (int block = 0; block < lanes_; block += 4)
        for (int i = 0; i < 2; ++i) write(pairs, block + 2 * i, 2, block + (high ? 2 : 0) + i);
    }
  }

  void write_four(llvm::Value* a, llvm::Value* b, llvm::Value* c, llvm::Value* d) {
    for (const bool second : {false, true}) {
      llvm::Value *ab = interleave(ir_, a, b, lanes_, second), *cd = interleave(ir_, c, d, lanes_, second);
      for (const bool high : {false, true}) {
        llvm::Value* rows = halves(ir_, ab, cd, lanes_, high);  // a[l] b[l] c[l] d[l] in each block
        for (int block = 0; block < lanes_; block += 4)
          write(rows, block, 4, block + (second ? 2 : 0) + (high ? 1 : 0));
      }
    }
  }

  void write_one(llvm::Value* value) {
    for (int lane = 0; lane < lanes_; ++lane)
      ir_.CreateAlignedStore(ir_.CreateExtractElement(value, lane), row(lane), llvm::Align(bytes_));
  }

 private:
  llvm::Value* row(int lane) { return ir_.CreateGEP(element_, pointer_, ir_.getInt64(offset_ + lane * stride_)); }

  /// Elements begin .. begin+count of `rows` go to where lane `lane` of the first vector goes.
  void write(llvm::Value* rows, int begin, int count, int lane) {
    std::vector<int> chosen(count);
    for (int i = 0; i < count; ++i) chosen[i] = begin + i;
    ir_.CreateAlignedStore(ir_.CreateShuffleVector(rows, chosen), row(lane), llvm::Align(bytes_));
  }

  llvm::IRBuilder<>& ir_;
  int lanes_;
  int64_t bytes_;
  llvm::Type* element_;
  llvm::Value* pointer_;
  int64_t offset_, stride_;
};

/// Sorted by offset: neighbours leave together, by fours, by twos, alone.
void write_sorted(Environment& env, const Buffer& buffer, std::span<const StridedStore> stores) {
  for (size_t at = 0; at < stores.size();) {
    size_t side_by_side = 1;
    while (at + side_by_side < stores.size() && side_by_side < 4 &&
           stores[at + side_by_side].offset() == stores[at].offset() + static_cast<int64_t>(side_by_side))
      ++side_by_side;
    GroupWriter writer(env, buffer, stores[at]);
    const auto value = [&](size_t i) { return stores[at + i].value; };
    if (side_by_side == 4)
      writer.write_four(value(0), value(1), value(2), value(3));
    else if (side_by_side >= 2)
      writer.write_two(value(0), value(1));
    else
      writer.write_one(value(0));
    at += side_by_side == 3 ? 2 : side_by_side;
  }
}

/// Whether some element is written twice: then the order of the stores matters.
bool overlap(const std::vector<Linear>& indices) {
  std::vector<int64_t> elements;
  for (const auto& index : indices) elements.insert(elements.end(), index.lanes.begin(), index.lanes.end());
  std::sort(elements.begin(), elements.end());
  return std::adjacent_find(elements.begin(), elements.end()) != elements.end();
}

}  // namespace

size_t strided_run(const Environment& env, std::span<const Stmt> stmts) {
  std::vector<Linear> indices;
  Buffer buffer;
  for (const auto& stmt : stmts) {
    const auto* store = stmt->as<Store>();
    if (store == nullptr || (buffer && store->buffer != buffer) || !env.buffers.contains(store->buffer)) break;
    const auto index = strided_index(env, *store);
    if (!index || (!indices.empty() && !same_shape(indices[0], *index)) || reads(store->value, store->buffer)) break;
    buffer = store->buffer;
    indices.push_back(*index);
  }
  return overlap(indices) ? 0 : indices.size();
}

void emit_strided_run(Environment& env, std::span<const Stmt> stmts) {
  std::vector<StridedStore> stores;
  for (const auto& stmt : stmts) {
    const auto* store = stmt->as<Store>();
    stores.push_back({*strided_index(env, *store), emit_expr(env, store->value)});
  }
  std::sort(stores.begin(), stores.end(), [](const auto& a, const auto& b) { return a.offset() < b.offset(); });
  write_sorted(env, stmts[0]->as<Store>()->buffer, stores);
}

}  // namespace farm::codegen
