#include "codegen/llvm/expr_emitter.h"

#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/compare_emitter.h"
#include "codegen/llvm/math_calls.h"
#include "codegen/llvm/memory_emitter.h"

namespace farm::codegen {
namespace {

bool has_load(const Expr& expr) {
  bool found = false;
  visit(expr, [&](const ExprNode& node) { found |= node.kind == ExprKind::Load; });
  return found;
}

bool is_zero(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::IntImm:
      return expr->int_value == 0;
    case ExprKind::FloatImm:
      return expr->float_value == 0;
    case ExprKind::Broadcast:
      return is_zero(expr->args[0]);
    default:
      return false;
  }
}

bool is_scalar_of_vector(const Expr& expr) { return expr->kind == ExprKind::Broadcast; }

class ExprEmitter {
 public:
  ExprEmitter(Environment& env, Mask predicate) : env_(env), ir_(env.ir), predicate_(predicate) {}

  llvm::Value* emit(const Expr& expr) {
    if (expr->lanes > 1 && expr->dtype == kInt64 && !is_scalar_of_vector(expr))
      if (const auto linear = env_.facts.linear(expr)) return emit_lanes(*linear);
    switch (expr->kind) {
      case ExprKind::IntImm:
        return emit_int(*expr);
      case ExprKind::FloatImm:
        return llvm::ConstantFP::get(type(*expr), expr->float_value);
      case ExprKind::Var:
        return emit_var(*expr);
      case ExprKind::Add:
      case ExprKind::Sub:
        return emit_sum(*expr);
      case ExprKind::Mul:
      case ExprKind::Div:
        return emit_product(*expr);
      case ExprKind::FloorDiv:
        return emit_division(*expr).quotient;
      case ExprKind::FloorMod:
        return emit_division(*expr).remainder;
      case ExprKind::Min:
      case ExprKind::Max:
        return emit_extreme(*expr);
      case ExprKind::Eq:
      case ExprKind::Ne:
      case ExprKind::Lt:
      case ExprKind::Le:
      case ExprKind::And:
      case ExprKind::Or:
      case ExprKind::Not:
        return mask_value(ir_, condition(expr), expr->lanes);
      case ExprKind::Select:
        return emit_select(*expr);
      case ExprKind::Cast:
        return emit_cast(*expr);
      case ExprKind::Load:
        return emit_masked_load(*expr);
      case ExprKind::Call:
        return emit_call(*expr);
      case ExprKind::Ramp:
        return emit_ramp(*expr);
      case ExprKind::Broadcast:
        return emit_broadcast(*expr);
    }
    FARM_ASSERT(false, "expression kind ", static_cast<int>(expr->kind));
  }

  Mask condition(const Expr& expr) {
    switch (expr->kind) {
      case ExprKind::And:
        return both(ir_, condition(expr->args[0]), condition(expr->args[1]));
      case ExprKind::Not:
        return opposite(ir_, condition(expr->args[0]));
      case ExprKind::Or:
        return either(*expr);
      case ExprKind::Broadcast:
        return ExprEmitter(env_, scalar_predicate(expr->args[0])).condition(expr->args[0]);
      case ExprKind::IntImm:
        return expr->int_value ? Mask{} : Mask{ir_.getFalse(), nullptr};
      case ExprKind::Eq:
      case ExprKind::Ne:
      case ExprKind::Lt:
      case ExprKind::Le:
        return emit_compare(env_, *expr, predicate_);
      default: {
        llvm::Value* value = emit(expr);
        return expr->lanes == 1 ? Mask{value, nullptr} : Mask{nullptr, value};
      }
    }
  }

 private:
  llvm::Type* type(const ExprNode& node) { return value_type(env_, node.dtype, node.lanes); }

  llvm::Value* emit_int(const ExprNode& node) {
    if (node.dtype.is_float()) return llvm::ConstantFP::get(type(node), static_cast<double>(node.int_value));
    return llvm::ConstantInt::get(type(node), static_cast<uint64_t>(node.int_value), true);
  }

  llvm::Value* emit_var(const ExprNode& node) {
    const auto var = env_.vars.find(node.var);
    if (var != env_.vars.end()) return var->second;
    env_.report("variable " + node.var->name + " is used outside its loop");
    return llvm::PoisonValue::get(type(node));
  }

  llvm::Value* emit_lanes(const Linear& linear) {
    llvm::Value* terms = ir_.CreateVectorSplat(linear.lanes.size(), emit_terms(env_, linear));
    std::vector<uint64_t> constants(linear.lanes.begin(), linear.lanes.end());
    return ir_.CreateAdd(terms, llvm::ConstantDataVector::get(ir_.getContext(), constants));
  }

  llvm::Value* fused(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    return ir_.CreateIntrinsic(a->getType(), llvm::Intrinsic::fma, {a, b, c});
  }

  /// a*b + c in one instruction where the device has one; nothing else is ever contracted or reordered.
  llvm::Value* emit_fused(const ExprNode& node) {
    if (!env_.options.fma || (node.dtype != kFloat32 && node.dtype.bits != 64)) return nullptr;
    const Expr &left = node.args[0], &right = node.args[1];
    const bool subtract = node.kind == ExprKind::Sub;
    if (right->kind == ExprKind::Mul) {
      llvm::Value* c = emit(left);
      llvm::Value* a = emit(right->args[0]);
      return fused(subtract ? ir_.CreateFNeg(a) : a, emit(right->args[1]), c);
    }
    if (left->kind != ExprKind::Mul) return nullptr;
    llvm::Value *a = emit(left->args[0]), *b = emit(left->args[1]), *c = emit(right);
    return fused(a, b, subtract ? ir_.CreateFNeg(c) : c);
  }

  llvm::Value* emit_sum(const ExprNode& node) {
    if (node.dtype.is_float())
      if (llvm::Value* value = emit_fused(node)) return value;
    llvm::Value *a = emit(node.args[0]), *b = emit(node.args[1]);
    const bool add = node.kind == ExprKind::Add;
    if (node.dtype.is_float()) return add ? ir_.CreateFAdd(a, b) : ir_.CreateFSub(a, b);
    const bool index = node.dtype == kInt64;  // narrower integers are data and wrap
    return add ? ir_.CreateAdd(a, b, "", false, index) : ir_.CreateSub(a, b, "", false, index);
  }

  llvm::Value* emit_product(const ExprNode& node) {
    llvm::Value *a = emit(node.args[0]), *b = emit(node.args[1]);
    if (node.kind == ExprKind::Mul)
      return node.dtype.is_float() ? ir_.CreateFMul(a, b) : ir_.CreateMul(a, b, "", false, node.dtype == kInt64);
    if (node.dtype.is_float()) return ir_.CreateFDiv(a, b);
    env_.report("division of " + to_string(node.dtype) + " must be floor division");
    return a;
  }

  struct Division {
    llvm::Value *quotient, *remainder;
  };

  Division emit_division(const ExprNode& node) {
    llvm::Value *a = emit(node.args[0]), *b = emit(node.args[1]);
    const Interval dividend = env_.facts.interval(node.args[0]), divisor = env_.facts.interval(node.args[1]);
    const bool is_unsigned = node.dtype.kind == DTypeKind::UInt;
    if (is_unsigned || (dividend.non_negative() && divisor.non_negative()))
      return {ir_.CreateUDiv(a, b), ir_.CreateURem(a, b)};
    // Truncation rounds towards zero; floor is one less when the remainder's sign is not the divisor's.
    llvm::Value *quotient = ir_.CreateSDiv(a, b), *remainder = ir_.CreateSRem(a, b);
    llvm::Value* zero = llvm::Constant::getNullValue(a->getType());
    llvm::Value* differ = ir_.CreateICmpSLT(ir_.CreateXor(remainder, b), zero);
    llvm::Value* fix = ir_.CreateAnd(ir_.CreateICmpNE(remainder, zero), differ);
    return {ir_.CreateAdd(quotient, ir_.CreateSExt(fix, a->getType())),
            ir_.CreateAdd(remainder, ir_.CreateSelect(fix, b, zero))};
  }

  llvm::Value* emit_extreme(const ExprNode& node) {
    llvm::Value *a = emit(node.args[0]), *b = emit(node.args[1]);
    const bool least = node.kind == ExprKind::Min;
    if (node.dtype.is_float())  // the form that becomes one vminps or vmaxps
      return ir_.CreateSelect(least ? ir_.CreateFCmpOLT(a, b) : ir_.CreateFCmpOGT(a, b), a, b);
    const bool is_unsigned = node.dtype.kind == DTypeKind::UInt;
    const auto intrinsic = least ? (is_unsigned ? llvm::Intrinsic::umin : llvm::Intrinsic::smin)
                                 : (is_unsigned ? llvm::Intrinsic::umax : llvm::Intrinsic::smax);
    return ir_.CreateBinaryIntrinsic(intrinsic, a, b);
  }

  Mask either(const ExprNode& node) {
    const Mask a = condition(node.args[0]), b = condition(node.args[1]);
    if (a.always() || b.always()) return {};
    if (a.lanes == nullptr && b.lanes == nullptr) return {ir_.CreateOr(a.uniform, b.uniform), nullptr};
    return {nullptr, ir_.CreateOr(mask_value(ir_, a, node.lanes), mask_value(ir_, b, node.lanes))};
  }

  llvm::Value* emit_select(const ExprNode& node) {
    const Mask chosen = condition(node.args[0]);
    const Expr &yes = node.args[1], &no = node.args[2];
    if (chosen.always()) return emit(yes);
    if (chosen.never()) return emit(no);
    if (yes->kind == ExprKind::Load && is_zero(no))  // what is switched off reads 0 already
      return ExprEmitter(env_, both(ir_, predicate_, chosen)).emit(yes);
    llvm::Value* a = ExprEmitter(env_, has_load(yes) ? both(ir_, predicate_, chosen) : predicate_).emit(yes);
    llvm::Value* b =
        ExprEmitter(env_, has_load(no) ? both(ir_, predicate_, opposite(ir_, chosen)) : predicate_).emit(no);
    return ir_.CreateSelect(chosen.lanes ? mask_value(ir_, chosen, node.lanes) : chosen.uniform, a, b);
  }

  llvm::Value* emit_cast(const ExprNode& node) {
    llvm::Value* value = emit(node.args[0]);
    const DType from = node.args[0]->dtype, to = node.dtype;
    llvm::Type* target = type(node);
    if (from == to) return value;
    if (to == kBool) {
      llvm::Value* zero = llvm::Constant::getNullValue(value->getType());
      return from.is_float() ? ir_.CreateFCmpUNE(value, zero) : ir_.CreateICmpNE(value, zero);
    }
    if (from.is_float() && to.is_float()) return ir_.CreateFPCast(value, target);
    if (from.is_float())
      return to.kind == DTypeKind::UInt ? ir_.CreateFPToUI(value, target) : ir_.CreateFPToSI(value, target);
    const bool is_unsigned = from.kind == DTypeKind::UInt;
    if (to.is_float()) return is_unsigned ? ir_.CreateUIToFP(value, target) : ir_.CreateSIToFP(value, target);
    return ir_.CreateIntCast(value, target, !is_unsigned);
  }

  llvm::Value* emit_masked_load(const ExprNode& node) {
    Mask mask = predicate_;
    if (node.masked) mask = both(ir_, mask, condition(node.args.back()));
    return emit_load(env_, node.buffer, node.args[0], mask);
  }

  llvm::Value* emit_call(const ExprNode& node) {
    std::vector<llvm::Value*> args;
    args.reserve(node.args.size());
    for (const auto& arg : node.args) args.push_back(emit(arg));
    return emit_math_call(env_, node, args);
  }

  llvm::Value* emit_ramp(const ExprNode& node) {
    std::vector<uint64_t> steps(node.lanes);
    for (int i = 0; i < node.lanes; ++i) steps[i] = static_cast<uint64_t>(i);
    llvm::Value* base = ir_.CreateVectorSplat(node.lanes, emit_scalar(node.args[0]));
    llvm::Value* stride = ir_.CreateVectorSplat(node.lanes, emit_scalar(node.args[1]));
    llvm::Value* lane =
        ir_.CreateIntCast(llvm::ConstantDataVector::get(ir_.getContext(), steps), stride->getType(), true);
    return ir_.CreateAdd(base, ir_.CreateMul(stride, lane));
  }

  llvm::Value* emit_broadcast(const ExprNode& node) {
    return ir_.CreateVectorSplat(node.lanes, emit_scalar(node.args[0]));
  }

  /// A scalar under a vector predicate is needed as soon as one lane is.
  Mask scalar_predicate(const Expr& scalar) {
    return has_load(scalar) ? any_lane(ir_, predicate_) : Mask{predicate_.uniform, nullptr};
  }
  llvm::Value* emit_scalar(const Expr& scalar) { return ExprEmitter(env_, scalar_predicate(scalar)).emit(scalar); }

  Environment& env_;
  llvm::IRBuilder<>& ir_;
  const Mask predicate_;
};

}  // namespace

llvm::Value* emit_expr(Environment& env, const Expr& expr, const Mask& predicate) {
  return ExprEmitter(env, predicate).emit(expr);
}

Mask emit_condition(Environment& env, const Expr& condition, const Mask& predicate) {
  return ExprEmitter(env, predicate).condition(condition);
}

llvm::Value* emit_terms(Environment& env, const Linear& linear) {
  llvm::Value* sum = nullptr;
  for (const auto& term : linear.terms) {
    llvm::Value* atom = env.ir.CreateIntCast(emit_expr(env, term.atom), env.ir.getInt64Ty(), true);
    llvm::Value* scaled = env.ir.CreateNSWMul(atom, env.ir.getInt64(term.coefficient));
    sum = sum ? env.ir.CreateNSWAdd(sum, scaled) : scaled;
  }
  return sum ? sum : env.ir.getInt64(0);
}

}  // namespace farm::codegen
