#include <llvm/Config/llvm-config.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/codegen.h"
#include "codegen/llvm/compile.h"
#include "codegen/llvm/link.h"
#include "codegen/llvm/object_file.h"

namespace farm {
namespace {

std::vector<TensorType> types_of(const std::vector<Buffer>& buffers) {
  std::vector<TensorType> types;
  types.reserve(buffers.size());
  for (const auto& buffer : buffers) types.push_back({buffer->dtype, buffer->shape});
  return types;
}

Artifact describe(const Module& module, const Target& target, int threads) {
  Artifact artifact;
  artifact.format = ArtifactFormat::Elf;
  artifact.isa = target.isa;
  artifact.features = target.features;
  artifact.inputs = types_of(module.inputs);
  artifact.constants = types_of(module.constants);
  artifact.output = {module.output->dtype, module.output->shape};
  artifact.packed_bytes = module.packed_bytes;
  artifact.workspace_bytes = module.workspace_bytes;
  artifact.threads = threads;
  artifact.flops = module.flops;
  return artifact;
}

class LlvmBackend final : public Backend {
 public:
  Result<Artifact> build(const Module& module, const Target& target, int threads) override {
    FARM_TRY(auto unit, codegen::make_unit(module, target, {.threads = threads}));
    codegen::optimize_unit(unit, target);
    const auto object = codegen::emit_object(*unit.module, *unit.machine);
    Artifact artifact = describe(module, target, threads);
    FARM_TRY(artifact.blob, codegen::link_shared_object({.objects = {object}}));
    return artifact;
  }
};

}  // namespace

std::unique_ptr<Backend> make_llvm_backend() { return std::make_unique<LlvmBackend>(); }

Result<Listing> list_code(const Module& module, const Target& target, int threads) {
  FARM_TRY(auto unit, codegen::make_unit(module, target, {.threads = threads}));
  codegen::optimize_unit(unit, target);
  Listing listing;
  llvm::raw_string_ostream out(listing.ir);
  unit.module->print(out, nullptr);
  listing.assembly = codegen::emit_assembly(*unit.module, *unit.machine);
  return listing;
}

std::string codegen_version() { return "llvm " LLVM_VERSION_STRING; }

}  // namespace farm
