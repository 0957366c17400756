// Comparisons: of indices through their linear forms, of everything else lane by lane.
#include "codegen/llvm/compare_emitter.h"

#include <algorithm>

#include "codegen/llvm/expr_emitter.h"

namespace farm::codegen {
namespace {

using Predicate = llvm::CmpInst::Predicate;

struct Relation {
  Predicate floats, signed_ints, unsigned_ints;
};

Relation relation(ExprKind kind) {
  switch (kind) {
    case ExprKind::Eq:
      return {Predicate::FCMP_OEQ, Predicate::ICMP_EQ, Predicate::ICMP_EQ};
    case ExprKind::Ne:
      return {Predicate::FCMP_UNE, Predicate::ICMP_NE, Predicate::ICMP_NE};
    case ExprKind::Lt:
      return {Predicate::FCMP_OLT, Predicate::ICMP_SLT, Predicate::ICMP_ULT};
    default:
      return {Predicate::FCMP_OLE, Predicate::ICMP_SLE, Predicate::ICMP_ULE};
  }
}

/// Whether `value` REL 0 holds for the whole interval; nothing when it depends.
std::optional<bool> decided(ExprKind kind, Interval value) {
  switch (kind) {
    case ExprKind::Lt:
      if (value.high < 0) return true;
      if (value.low >= 0) return false;
      return std::nullopt;
    case ExprKind::Le:
      if (value.high <= 0) return true;
      if (value.low > 0) return false;
      return std::nullopt;
    default:
      if (value.low > 0 || value.high < 0) return kind == ExprKind::Ne;
      if (value.low == 0 && value.high == 0) return kind == ExprKind::Eq;
      return std::nullopt;
  }
}

/// terms + lane REL 0, as lane REL -terms in 32 bits: half the registers of 64-bit lanes. The terms are clamped first,
/// far outside of any lane constant, which changes no outcome.
llvm::Value* compare_lanes(Environment& env, Predicate predicate, llvm::Value* terms,
                           const std::vector<int64_t>& lanes) {
  constexpr int64_t kLimit = 1 << 30;
  auto& ir = env.ir;
  llvm::Value* bound = ir.CreateNSWSub(ir.getInt64(0), terms);
  bound = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, bound, ir.getInt64(kLimit));
  bound = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, bound, ir.getInt64(-kLimit));
  bound = ir.CreateVectorSplat(lanes.size(), ir.CreateTrunc(bound, ir.getInt32Ty()));
  std::vector<uint32_t> constants(lanes.begin(), lanes.end());
  return ir.CreateICmp(predicate, llvm::ConstantDataVector::get(ir.getContext(), constants), bound);
}

bool small(const std::vector<int64_t>& lanes) {
  return std::all_of(lanes.begin(), lanes.end(), [](int64_t lane) { return std::abs(lane) < (1 << 29); });
}

std::optional<Mask> compare_linear(Environment& env, const ExprNode& node) {
  const auto a = env.facts.linear(node.args[0]), b = env.facts.linear(node.args[1]);
  if (!a || !b || a->width() != b->width()) return std::nullopt;
  const Linear difference = add_scaled(*a, *b, -1);
  auto& ir = env.ir;
  if (const auto known = decided(node.kind, env.facts.interval(difference)))
    return *known ? Mask{} : Mask{ir.getFalse(), nullptr};
  const Predicate predicate = relation(node.kind).signed_ints;
  if (difference.uniform()) {
    llvm::Value* terms = emit_terms(env, difference);
    return Mask{ir.CreateICmp(predicate, terms, ir.getInt64(-difference.lanes[0])), nullptr};
  }
  if (!small(difference.lanes)) return std::nullopt;
  return Mask{nullptr, compare_lanes(env, predicate, emit_terms(env, difference), difference.lanes)};
}

}  // namespace

Mask emit_compare(Environment& env, const ExprNode& node, const Mask& predicate) {
  const DType operands = node.args[0]->dtype;
  if (operands == kInt64)
    if (auto mask = compare_linear(env, node)) return *mask;
  llvm::Value* a = emit_expr(env, node.args[0], predicate);
  llvm::Value* b = emit_expr(env, node.args[1], predicate);
  const Relation r = relation(node.kind);
  const bool is_unsigned = operands.kind == DTypeKind::UInt;
  llvm::Value* value = operands.is_float() ? env.ir.CreateFCmp(r.floats, a, b)
                                           : env.ir.CreateICmp(is_unsigned ? r.unsigned_ints : r.signed_ints, a, b);
  return node.lanes == 1 ? Mask{value, nullptr} : Mask{nullptr, value};
}

}  // namespace farm::codegen
