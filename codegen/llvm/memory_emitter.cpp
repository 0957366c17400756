#include "codegen/llvm/memory_emitter.h"

#include <bit>
#include <numeric>

#include "codegen/llvm/address.h"
#include "codegen/llvm/expr_emitter.h"

namespace farm::codegen {
namespace {

/// Zeros that a switched-off load reads instead: one conditional move, no branch.
llvm::Constant* zero_block(llvm::Module& module) {
  constexpr const char* kName = "farm_zeros";
  if (auto* existing = module.getGlobalVariable(kName, true)) return existing;
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 1024);
  auto* zeros = new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::PrivateLinkage,
                                         llvm::ConstantAggregateZero::get(type), kName);
  zeros->setAlignment(llvm::Align(64));
  return zeros;
}
constexpr int64_t kZeroBytes = 1024;

/// An access of one buffer whose lanes differ by constants.
class LinearAccess {
 public:
  LinearAccess(Environment& env, const Buffer& buffer, const BufferPlace& place, const Linear& index)
      : env_(env),
        ir_(env.ir),
        element_(memory_type(env, buffer->dtype)),
        bytes_(buffer->dtype == kBool ? 1 : buffer->dtype.bits / 8),
        offsets_(index.lanes),
        align_(alignment(place, index)),
        pointer_(emit_address(env, place.pointer, index, bytes_)) {}

  llvm::Value* load(const Mask& mask) { return load(0, static_cast<int>(offsets_.size()), mask); }
  void store(llvm::Value* value, const Mask& mask) { store(value, 0, static_cast<int>(offsets_.size()), mask); }

 private:
  llvm::Align alignment(const BufferPlace& place, const Linear& index) const {
    uint64_t all = place.align.value();
    for (const auto& term : index.terms)
      all = std::gcd(all, static_cast<uint64_t>(std::abs(term.coefficient) * bytes_));
    return llvm::Align(std::max<uint64_t>(1, all & (~all + 1)));
  }

  llvm::Type* vector(int count) { return count == 1 ? element_ : llvm::FixedVectorType::get(element_, count); }
  llvm::Value* at(int64_t offset) {
    return offset == 0 ? pointer_ : ir_.CreateGEP(element_, pointer_, ir_.getInt64(offset));
  }
  llvm::Align align_at(int64_t offset) const {
    return llvm::commonAlignment(align_, static_cast<uint64_t>(offset * bytes_));
  }

  std::optional<int64_t> step(int begin, int count) const {
    return Linear{{}, {offsets_.begin() + begin, offsets_.begin() + begin + count}}.step();
  }

  llvm::Value* load(int begin, int count, const Mask& mask) {
    if (mask.never()) return llvm::Constant::getNullValue(vector(count));
    if (count == 1) return load_run(begin, 1, mask);
    const auto stride = step(begin, count);
    if (stride == 1) return load_run(begin, count, mask);
    if (stride == 0 && mask.lanes == nullptr) return ir_.CreateVectorSplat(count, load_run(begin, 1, mask));
    if (stride == -1 && mask.always()) return load_reversed(begin, count);
    if (stride && *stride >= 2 && *stride <= 4 && mask.always() && count >= 4)
      return load_strided(begin, count, *stride);
    return load_halves(begin, count, mask);
  }

  llvm::Value* load_run(int begin, int count, const Mask& mask) {
    llvm::Value* pointer = at(offsets_[begin]);
    llvm::Align align = align_at(offsets_[begin]);
    if (mask.uniform) {
      FARM_ASSERT(count * bytes_ <= kZeroBytes, "a vector of ", count, " lanes");
      pointer = ir_.CreateSelect(mask.uniform, pointer, zero_block(env_.module));
    }
    llvm::Type* type = vector(count);
    if (mask.lanes == nullptr) return ir_.CreateAlignedLoad(type, pointer, align);
    return ir_.CreateMaskedLoad(type, pointer, align, mask.lanes, llvm::Constant::getNullValue(type));
  }

  llvm::Value* load_reversed(int begin, int count) {
    llvm::Value* forward =
        ir_.CreateAlignedLoad(vector(count), at(offsets_[begin + count - 1]), align_at(offsets_[begin + count - 1]));
    std::vector<int> order(count);
    for (int i = 0; i < count; ++i) order[i] = count - 1 - i;
    return ir_.CreateShuffleVector(forward, order);
  }

  /// Whole vectors that lie between the first and the last element, so within the buffer; the last one overlaps.
  llvm::Value* load_strided(int begin, int count, int64_t stride) {
    const int64_t span = (count - 1) * stride + 1;
    llvm::Value* result = nullptr;
    for (int64_t block = 0; block * count < span; ++block) {
      const int64_t start = std::min(block * count, span - count);
      const int64_t offset = offsets_[begin] + start;
      llvm::Value* loaded = ir_.CreateAlignedLoad(vector(count), at(offset), align_at(offset));
      std::vector<int> order(count);
      for (int lane = 0; lane < count; ++lane) {
        const int64_t position = lane * stride;
        const bool here = position >= block * count && position < (block + 1) * count;
        order[lane] = here ? static_cast<int>(count + position - start) : lane;
      }
      if (result == nullptr) result = llvm::PoisonValue::get(vector(count));
      result = ir_.CreateShuffleVector(result, loaded, order);
    }
    return result;
  }

  llvm::Value* load_halves(int begin, int count, const Mask& mask) {
    const int low = static_cast<int>(std::bit_floor(static_cast<unsigned>(count - 1)));
    if (low * 2 == count) {
      llvm::Value* a = load(begin, low, lanes_of(ir_, mask, 0, low));
      llvm::Value* b = load(begin + low, low, lanes_of(ir_, mask, low, low));
      return join(a, b);
    }
    llvm::Value* result = llvm::PoisonValue::get(vector(count));
    for (int i = 0; i < count; ++i)
      result = ir_.CreateInsertElement(result, load_run(begin + i, 1, lanes_of(ir_, mask, i, 1)), i);
    return result;
  }

  llvm::Value* join(llvm::Value* a, llvm::Value* b) {
    if (!a->getType()->isVectorTy()) {
      llvm::Value* pair = ir_.CreateInsertElement(llvm::PoisonValue::get(vector(2)), a, uint64_t{0});
      return ir_.CreateInsertElement(pair, b, uint64_t{1});
    }
    std::vector<int> all(size_t{2} * llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements());
    std::iota(all.begin(), all.end(), 0);
    return ir_.CreateShuffleVector(a, b, all);
  }

  void store(llvm::Value* value, int begin, int count, const Mask& mask) {
    if (mask.never()) return;
    if (count == 1 || step(begin, count) == 1) return store_run(value, begin, mask);
    for (int done = 0; done < count;) {
      const int run = run_length(begin + done, count - done);
      store_run(slice(value, done, run), begin + done, lanes_of(ir_, mask, done, run));
      done += run;
    }
  }

  int run_length(int begin, int limit) const {
    int run = 1;
    while (run < limit && offsets_[begin + run] == offsets_[begin + run - 1] + 1) ++run;
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(run)));
  }

  llvm::Value* slice(llvm::Value* value, int begin, int count) {
    if (count == 1) return ir_.CreateExtractElement(value, begin);
    std::vector<int> chosen(count);
    std::iota(chosen.begin(), chosen.end(), begin);
    return ir_.CreateShuffleVector(value, chosen);
  }

  void store_run(llvm::Value* value, int begin, const Mask& mask) {
    const auto write = [&] {
      llvm::Value* pointer = at(offsets_[begin]);
      const llvm::Align align = align_at(offsets_[begin]);
      if (mask.lanes)
        ir_.CreateMaskedStore(value, pointer, align, mask.lanes);
      else
        ir_.CreateAlignedStore(value, pointer, align);
    };
    if (mask.uniform == nullptr) return write();
    auto* yes = llvm::BasicBlock::Create(ir_.getContext(), "store", env_.function);
    auto* after = llvm::BasicBlock::Create(ir_.getContext(), "stored", env_.function);
    ir_.CreateCondBr(mask.uniform, yes, after);
    ir_.SetInsertPoint(yes);
    write();
    ir_.CreateBr(after);
    ir_.SetInsertPoint(after);
  }

  Environment& env_;
  llvm::IRBuilder<>& ir_;
  llvm::Type* element_;
  int64_t bytes_;
  std::vector<int64_t> offsets_;
  llvm::Align align_;
  llvm::Value* pointer_;
};

/// Any other index: every lane has an address of its own.
class ScatteredAccess {
 public:
  ScatteredAccess(Environment& env, const Buffer& buffer, const BufferPlace& place, llvm::Value* index)
      : env_(env),
        ir_(env.ir),
        element_(memory_type(env, buffer->dtype)),
        place_(place),
        index_(index),
        lanes_(index->getType()->isVectorTy() ? llvm::cast<llvm::FixedVectorType>(index->getType())->getNumElements()
                                              : 1),
        align_(buffer->dtype == kBool ? 1 : buffer->dtype.bits / 8) {}

  llvm::Value* load(const Mask& mask) {
    llvm::Value* result = llvm::PoisonValue::get(llvm::FixedVectorType::get(element_, lanes_));
    for (unsigned i = 0; i < lanes_; ++i) {
      llvm::Value* pointer = at(i);
      if (llvm::Value* on = lanes_of(ir_, mask, static_cast<int>(i), 1).uniform)
        pointer = ir_.CreateSelect(on, pointer, zero_block(env_.module));
      result = ir_.CreateInsertElement(result, ir_.CreateAlignedLoad(element_, pointer, align_), i);
    }
    return result;
  }

  void store(llvm::Value* value, const Mask& mask) {
    if (!mask.always()) {
      llvm::Value* pointers = ir_.CreateGEP(element_, place_.pointer, index_);
      ir_.CreateMaskedScatter(value, pointers, align_, mask_value(ir_, mask, static_cast<int>(lanes_)));
      return;
    }
    for (unsigned i = 0; i < lanes_; ++i) ir_.CreateAlignedStore(ir_.CreateExtractElement(value, i), at(i), align_);
  }

 private:
  llvm::Value* at(unsigned lane) {
    return ir_.CreateGEP(element_, place_.pointer, ir_.CreateExtractElement(index_, lane));
  }

  Environment& env_;
  llvm::IRBuilder<>& ir_;
  llvm::Type* element_;
  BufferPlace place_;
  llvm::Value* index_;
  unsigned lanes_;
  llvm::Align align_;
};

BufferPlace place_of(Environment& env, const Buffer& buffer) {
  const auto place = env.buffers.find(buffer);
  if (place != env.buffers.end()) return place->second;
  env.report("buffer " + buffer->name + " is used where it does not exist");
  return {llvm::PoisonValue::get(env.ir.getPtrTy()), llvm::Align(1)};
}

/// A bool is a byte in memory and a bit in a register.
llvm::Value* from_memory(Environment& env, DType dtype, llvm::Value* value) {
  return dtype == kBool ? env.ir.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType())) : value;
}

llvm::Value* to_memory(Environment& env, DType dtype, int lanes, llvm::Value* value) {
  return dtype == kBool ? env.ir.CreateZExt(value, memory_type(env, dtype, lanes)) : value;
}

}  // namespace

llvm::Value* emit_load(Environment& env, const Buffer& buffer, const Expr& index, const Mask& mask) {
  const BufferPlace place = place_of(env, buffer);
  const auto linear = env.facts.linear(index);
  llvm::Value* loaded = linear ? LinearAccess(env, buffer, place, *linear).load(mask)
                               : ScatteredAccess(env, buffer, place, emit_expr(env, index, mask)).load(mask);
  return from_memory(env, buffer->dtype, loaded);
}

void emit_store(Environment& env, const Buffer& buffer, const Expr& index, llvm::Value* value, const Mask& mask) {
  const BufferPlace place = place_of(env, buffer);
  value = to_memory(env, buffer->dtype, index->lanes, value);
  if (const auto linear = env.facts.linear(index))
    LinearAccess(env, buffer, place, *linear).store(value, mask);
  else
    ScatteredAccess(env, buffer, place, emit_expr(env, index, mask)).store(value, mask);
}

}  // namespace farm::codegen
