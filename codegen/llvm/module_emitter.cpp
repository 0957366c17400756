#include "codegen/llvm/module_emitter.h"

#include "codegen/llvm/function_frame.h"
#include "codegen/llvm/stmt_emitter.h"

namespace farm::codegen {
namespace {

/// Users hand over plain pointers, so only the element's own alignment is certain; blocks of our own are aligned.
llvm::Align block_align() { return llvm::Align(64); }

llvm::Align element_align(const Buffer& buffer) {
  return llvm::Align(buffer->dtype == kBool ? 1 : std::max(1, buffer->dtype.bits / 8));
}

/// i32 name(ptr context, ptr args): takes the pointers out of `args` and calls the body.
class EntryEmitter {
 public:
  EntryEmitter(llvm::Module& module, const char* name) : module_(module), ir_(module.getContext()) {
    auto* type = llvm::FunctionType::get(ir_.getInt32Ty(), {ir_.getPtrTy(), ir_.getPtrTy()}, false);
    entry_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
    entry_->getArg(0)->setName("context");
    entry_->getArg(1)->setName("args");
    ir_.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", entry_));
  }

  void add_tensors(const std::vector<Buffer>& buffers) {
    for (const auto& buffer : buffers) operands_.push_back({buffer, {next_argument(), element_align(buffer)}});
  }

  void add_packed(const Module& module, const CodeOptions& options) {
    const bool aligned = options.aligned_packed;
    add_block(module.packed, module.packed_offsets, aligned ? block_align() : element_align(module.packed[0]));
  }

  void add_block(const std::vector<Buffer>& buffers, const std::vector<int64_t>& offsets,
                 llvm::Align align = block_align()) {
    llvm::Value* block = next_argument();
    for (size_t i = 0; i < buffers.size(); ++i) {
      llvm::Value* place = ir_.CreateGEP(ir_.getInt8Ty(), block, ir_.getInt64(offsets[i]));
      operands_.push_back({buffers[i], {place, llvm::commonAlignment(align, static_cast<uint64_t>(offsets[i]))}});
    }
  }

  void finish(const Stmt& body, const CodeOptions& options, std::optional<std::string>& problem) {
    Environment env{
        .module = module_, .ir = llvm::IRBuilder<>(module_.getContext()), .options = options, .problem = problem};
    auto* function =
        make_body_function(module_, entry_->getName().str() + ".body", operands_, {{ir_.getPtrTy(), "context"}});
    enter_body_function(env, function, operands_);
    env.call_context = function->getArg(operands_.size());
    emit_stmt(env, body);
    env.ir.CreateRetVoid();

    std::vector<llvm::Value*> arguments;
    arguments.reserve(operands_.size() + 1);
    for (const auto& operand : operands_) arguments.push_back(operand.place.pointer);
    arguments.push_back(entry_->getArg(0));
    ir_.CreateCall(function, arguments);
    ir_.CreateRet(ir_.getInt32(0));
  }

 private:
  llvm::Value* next_argument() {
    llvm::Value* slot = ir_.CreateConstGEP1_64(ir_.getPtrTy(), entry_->getArg(1), static_cast<uint64_t>(arguments_++));
    return ir_.CreateLoad(ir_.getPtrTy(), slot);
  }

  llvm::Module& module_;
  llvm::IRBuilder<> ir_;
  llvm::Function* entry_;
  std::vector<Operand> operands_;
  int arguments_ = 0;
};

void emit_run(const Module& module, const CodeOptions& options, llvm::Module& into,
              std::optional<std::string>& problem) {
  EntryEmitter entry(into, kRunSymbol);
  entry.add_tensors(module.inputs);
  if (!module.packed.empty()) entry.add_packed(module, options);
  entry.add_tensors({module.output});
  entry.add_block(module.run().workspace, module.workspace_offsets);
  entry.finish(module.run().body, options, problem);
}

void emit_prepack(const Module& module, const CodeOptions& options, llvm::Module& into,
                  std::optional<std::string>& problem) {
  EntryEmitter entry(into, kPrepackSymbol);
  entry.add_tensors(module.constants);
  entry.add_packed(module, options);
  entry.finish(module.prepack()->body, options, problem);
}

Status check_offsets(const Module& module) {
  if (module.packed.size() == module.packed_offsets.size() &&
      module.run().workspace.size() == module.workspace_offsets.size())
    return {};
  return fail(ErrorCode::InvalidArgument,
              "codegen: packed and workspace buffers have no offsets: the module is not lowered");
}

}  // namespace

Status emit_module(const Module& module, const CodeOptions& options, llvm::Module& into) {
  FARM_CHECK(check_offsets(module));
  std::optional<std::string> problem;
  emit_run(module, options, into, problem);
  if (module.prepack()) emit_prepack(module, options, into, problem);
  if (problem) return fail(ErrorCode::NoCandidate, "codegen: ", *problem);
  return {};
}

}  // namespace farm::codegen
