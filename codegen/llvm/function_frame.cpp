#include "codegen/llvm/function_frame.h"

namespace farm::codegen {

int64_t buffer_bytes(const Buffer& buffer) {
  const int64_t element_bits = buffer->dtype == kBool ? 8 : buffer->dtype.bits;
  return (element_count(buffer->shape) * element_bits + 7) / 8;
}

llvm::Function* make_body_function(llvm::Module& module, const std::string& name, const std::vector<Operand>& operands,
                                   const std::vector<FrameParameter>& values) {
  auto& context = module.getContext();
  std::vector<llvm::Type*> types(operands.size(), llvm::PointerType::getUnqual(context));
  for (const auto& value : values) types.push_back(value.type);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  for (unsigned i = 0; i < operands.size(); ++i) {
    auto* argument = function->getArg(i);
    argument->setName(operands[i].buffer->name);
    llvm::AttrBuilder attributes(context);
    attributes.addAttribute(llvm::Attribute::NoAlias).addAttribute(llvm::Attribute::NoCapture);
    attributes.addAlignmentAttr(operands[i].place.align);
    // Lets loads move out of loops that might not run.
    attributes.addDereferenceableAttr(static_cast<uint64_t>(buffer_bytes(operands[i].buffer)));
    argument->addAttrs(attributes);
  }
  for (size_t i = 0; i < values.size(); ++i) function->getArg(operands.size() + i)->setName(values[i].name);
  return function;
}

void enter_body_function(Environment& env, llvm::Function* function, const std::vector<Operand>& operands) {
  env.function = function;
  auto* entry = llvm::BasicBlock::Create(env.module.getContext(), "entry", function);
  auto* start = llvm::BasicBlock::Create(env.module.getContext(), "start", function);
  llvm::BranchInst::Create(start, entry);
  env.ir.SetInsertPoint(start);
  env.frames = {{.block = entry}};
  for (unsigned i = 0; i < operands.size(); ++i)
    env.buffers[operands[i].buffer] = {function->getArg(i), operands[i].place.align};
}

}  // namespace farm::codegen
