#include "codegen/llvm/library_entries.h"

#include <llvm/IR/IRBuilder.h>

#include <map>

#include "codegen/llvm/module_emitter.h"

namespace farm::codegen {
namespace {

constexpr int kOutOfMemory = 1;

/// One entry point under construction. Every failure leaves through one block that frees what was allocated.
class EntryPoint {
 public:
  EntryPoint(llvm::Module& module, const std::string& name, const std::vector<std::string>& parameters)
      : module_(module), ir_(module.getContext()) {
    const std::vector<llvm::Type*> types(parameters.size(), ir_.getPtrTy());
    auto* type = llvm::FunctionType::get(ir_.getInt32Ty(), types, false);
    function_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
    for (size_t i = 0; i < parameters.size(); ++i) {
      function_->getArg(i)->setName(parameters[i]);
      values_[parameters[i]] = function_->getArg(i);
    }
    ir_.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function_));
  }

  llvm::Value* value(const std::string& name) { return values_.at(name); }

  /// 64-byte aligned scratch of this call; null when `bytes` is 0. The call fails when there is no memory.
  llvm::Value* allocate(int64_t bytes) {
    if (bytes == 0) return llvm::ConstantPointerNull::get(ir_.getPtrTy());
    const int64_t rounded = (bytes + 63) / 64 * 64;
    auto allocate = module_.getOrInsertFunction("aligned_alloc", ir_.getPtrTy(), ir_.getInt64Ty(), ir_.getInt64Ty());
    llvm::Value* memory = ir_.CreateCall(allocate, {ir_.getInt64(64), ir_.getInt64(rounded)});
    return_if(ir_.CreateIsNull(memory), ir_.getInt32(kOutOfMemory));
    owned_.push_back(memory);
    return memory;
  }

  /// Calls a kernel with the context and these pointers; a failure is this call's failure.
  void call_kernel(const char* kernel, llvm::Value* context, const std::vector<llvm::Value*>& pointers) {
    auto* type = llvm::ArrayType::get(ir_.getPtrTy(), pointers.size());
    auto& entry = function_->getEntryBlock();
    llvm::Value* args = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
    for (size_t i = 0; i < pointers.size(); ++i) ir_.CreateStore(pointers[i], ir_.CreateConstGEP2_64(type, args, 0, i));
    llvm::Value* status = ir_.CreateCall(module_.getFunction(kernel), {context, args});
    return_if(ir_.CreateIsNotNull(status), status);
  }

  /// The library's pool. A kernel for one thread asks for none.
  llvm::Value* pool(int threads) {
    if (threads <= 1) return llvm::ConstantPointerNull::get(ir_.getPtrTy());
    auto shared = module_.getOrInsertFunction("farm_pool_shared", ir_.getPtrTy(), ir_.getInt32Ty());
    llvm::cast<llvm::Function>(shared.getCallee())->setVisibility(llvm::GlobalValue::HiddenVisibility);
    return ir_.CreateCall(shared, {ir_.getInt32(threads)});
  }

  void finish() {
    release();
    ir_.CreateRet(ir_.getInt32(0));
  }

 private:
  void release() {
    if (owned_.empty()) return;
    auto free = module_.getOrInsertFunction("free", ir_.getVoidTy(), ir_.getPtrTy());
    for (auto* memory : owned_) ir_.CreateCall(free, {memory});
  }

  void return_if(llvm::Value* failed, llvm::Value* status) {
    auto* leave = llvm::BasicBlock::Create(module_.getContext(), "failed", function_);
    auto* go_on = llvm::BasicBlock::Create(module_.getContext(), "next", function_);
    ir_.CreateCondBr(failed, leave, go_on);
    ir_.SetInsertPoint(leave);
    release();
    ir_.CreateRet(status);
    ir_.SetInsertPoint(go_on);
  }

  llvm::Module& module_;
  llvm::IRBuilder<> ir_;
  llvm::Function* function_ = nullptr;
  std::map<std::string, llvm::Value*> values_;
  std::vector<llvm::Value*> owned_;
};

std::vector<std::string> names_of(const std::vector<Buffer>& buffers, const std::vector<std::string>& more) {
  std::vector<std::string> names;
  names.reserve(buffers.size() + more.size());
  for (const auto& buffer : buffers) names.push_back(buffer->name);
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

std::vector<llvm::Value*> pointers_to(EntryPoint& entry, const std::vector<Buffer>& buffers) {
  std::vector<llvm::Value*> pointers;
  pointers.reserve(buffers.size() + 3);
  for (const auto& buffer : buffers) pointers.push_back(entry.value(buffer->name));
  return pointers;
}

void call_prepack(EntryPoint& entry, const LibraryPlan& plan, llvm::Value* packed) {
  auto pointers = pointers_to(entry, plan.constants);
  pointers.push_back(packed);
  entry.call_kernel(kPrepackSymbol, entry.pool(plan.threads), pointers);
}

void call_run(EntryPoint& entry, const LibraryPlan& plan, llvm::Value* packed) {
  auto pointers = pointers_to(entry, plan.inputs);
  if (packed != nullptr) pointers.push_back(packed);
  pointers.push_back(entry.value(plan.output->name));
  pointers.push_back(entry.allocate(plan.workspace_bytes));
  entry.call_kernel(kRunSymbol, entry.pool(plan.threads), pointers);
}

void emit_packed_bytes(llvm::Module& module, const LibraryPlan& plan) {
  llvm::IRBuilder<> ir(module.getContext());
  auto* function = llvm::Function::Create(llvm::FunctionType::get(ir.getInt64Ty(), false),
                                          llvm::GlobalValue::ExternalLinkage, plan.name + "_packed_bytes", module);
  ir.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  ir.CreateRet(ir.getInt64(plan.packed_bytes));
}

void emit_prepack(llvm::Module& module, const LibraryPlan& plan) {
  EntryPoint entry(module, plan.name + "_prepack", names_of(plan.constants, {"packed"}));
  if (plan.packed_bytes > 0) call_prepack(entry, plan, entry.value("packed"));
  entry.finish();
}

void emit_run(llvm::Module& module, const LibraryPlan& plan) {
  const bool packs = plan.packed_bytes > 0;
  std::vector<std::string> last = {plan.output->name};
  if (packs) last.insert(last.begin(), "packed");
  EntryPoint entry(module, plan.name + "_run", names_of(plan.inputs, last));
  call_run(entry, plan, packs ? entry.value("packed") : nullptr);
  entry.finish();
}

void emit_whole(llvm::Module& module, const LibraryPlan& plan) {
  EntryPoint entry(module, plan.name, names_of(plan.operands, {plan.output->name}));
  llvm::Value* packed = nullptr;
  if (plan.packed_bytes > 0) {
    packed = entry.allocate(plan.packed_bytes);
    call_prepack(entry, plan, packed);
  }
  call_run(entry, plan, packed);
  entry.finish();
}

}  // namespace

void emit_library_entries(llvm::Module& module, const LibraryPlan& plan) {
  for (const char* kernel : {kRunSymbol, kPrepackSymbol})
    if (auto* function = module.getFunction(kernel)) function->setLinkage(llvm::GlobalValue::InternalLinkage);
  emit_packed_bytes(module, plan);
  emit_prepack(module, plan);
  emit_run(module, plan);
  emit_whole(module, plan);
}

}  // namespace farm::codegen
