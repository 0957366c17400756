#include "codegen/llvm/machine.h"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>

#include <mutex>
#include <set>

#include "codegen/llvm/architecture.h"

namespace farm::codegen {
namespace {

void initialize_once(const Architecture& architecture) {
  static std::mutex mutex;
  static std::set<const Architecture*> done;
  const std::lock_guard lock(mutex);
  if (done.insert(&architecture).second) architecture.initialize();
}

std::string cpu_name(const llvm::MCSubtargetInfo& generic, const Target& target, const Architecture& architecture) {
  if (generic.isCPUStringValid(target.cpu)) return target.cpu;
  return *architecture.generic_cpu ? architecture.generic_cpu : target.isa;
}

std::set<std::string, std::less<>> known_features(const llvm::MCSubtargetInfo& generic) {
  std::set<std::string, std::less<>> known;
  for (const auto& feature : generic.getAllProcessorFeatures()) known.insert(feature.Key);
  return known;
}

/// "+avx2,...": what the device lacks first, so that nothing it has is lost to an implied feature.
std::string feature_text(const llvm::MCSubtargetInfo& generic, const Target& target, const Architecture& architecture) {
  const auto known = known_features(generic);  // LLVM complains aloud about others
  if (target.features.empty()) return "";
  std::string text;
  for (const char* feature : architecture.selectable)
    if (!target.has(feature) && known.contains(feature)) text += std::string(",-") + feature;
  for (const auto& feature : target.features)
    if (known.contains(feature)) text += ",+" + feature;
  return text.substr(1);
}

}  // namespace

Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const Target& target) {
  FARM_TRY(const Architecture* architecture, architecture_of(target.isa));
  initialize_once(*architecture);
  const char* triple = architecture->triple;
  std::string problem;
  const llvm::Target* llvm_target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (llvm_target == nullptr) return fail(ErrorCode::InvalidArgument, "codegen: ", problem);
  llvm::TargetOptions options;
  options.TrapUnreachable = false;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  options.MCOptions.ABIName = architecture->abi;
  if (architecture->hard_float) options.FloatABIType = llvm::FloatABI::Hard;
  const std::unique_ptr<llvm::MCSubtargetInfo> generic(llvm_target->createMCSubtargetInfo(triple, "", ""));
  const std::string cpu = cpu_name(*generic, target, *architecture);
  std::unique_ptr<llvm::TargetMachine> machine(
      llvm_target->createTargetMachine(triple, cpu, feature_text(*generic, target, *architecture), options,
                                       llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (machine == nullptr) return fail(ErrorCode::InvalidArgument, "codegen: LLVM has no machine ", cpu);
  return machine;
}

void prepare_module(llvm::Module& module, llvm::TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
}

void set_function_attributes(llvm::Module& module, const Target& target) {
  for (auto& function : module) {
    if (function.isDeclaration()) continue;
    function.setDoesNotThrow();
    function.addFnAttr("frame-pointer", "none");
    // Some CPUs prefer halves of their registers; the schedule has chosen widths already.
    if (target.vector_bits >= 512) function.addFnAttr("prefer-vector-width", "512");
  }
}

}  // namespace farm::codegen
