#include "codegen/llvm/machine.h"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>
#include <set>

namespace farm::codegen {
namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

/// What LLVM may take from a CPU's name and a device may still lack (virtual machines hide features).
constexpr const char* kSelectable[] = {
    "sse3",       "ssse3",      "sse4.1",     "sse4.2",      "sse4a",        "avx",          "avx2",
    "fma",        "fma4",       "f16c",       "bmi",         "bmi2",         "lzcnt",        "popcnt",
    "movbe",      "xop",        "tbm",        "avx512f",     "avx512bw",     "avx512cd",     "avx512dq",
    "avx512vl",   "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512vnni",   "avx512bitalg", "avx512vpopcntdq",
    "avx512bf16", "avx512fp16", "avxvnni",    "avxifma",     "avxneconvert", "avxvnniint8",  "gfni",
    "vaes",       "vpclmulqdq", "amx-tile",   "amx-int8",    "amx-bf16"};

void initialize_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

std::string cpu_name(const llvm::MCSubtargetInfo& generic, const Target& target) {
  return generic.isCPUStringValid(target.cpu) ? target.cpu : target.isa;
}

std::set<std::string, std::less<>> known_features(const llvm::MCSubtargetInfo& generic) {
  std::set<std::string, std::less<>> known;
  for (const auto& feature : generic.getAllProcessorFeatures()) known.insert(feature.Key);
  return known;
}

/// "+avx2,...": what the device lacks first, so that nothing it has is lost to an implied feature.
std::string feature_text(const llvm::MCSubtargetInfo& generic, const Target& target) {
  const auto known = known_features(generic);  // LLVM complains aloud about others
  if (target.features.empty()) return "";
  std::string text;
  for (const char* feature : kSelectable)
    if (!target.has(feature) && known.contains(feature)) text += std::string(",-") + feature;
  for (const auto& feature : target.features)
    if (known.contains(feature)) text += ",+" + feature;
  return text.substr(1);
}

}  // namespace

Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const Target& target) {
  if (!target.isa.starts_with("x86-64"))
    return fail(ErrorCode::InvalidArgument, "codegen: no code generator for ", target.isa,
                "; x86-64 levels are possible");
  initialize_once();
  std::string problem;
  const llvm::Target* llvm_target = llvm::TargetRegistry::lookupTarget(kTriple, problem);
  if (llvm_target == nullptr) return fail(ErrorCode::InvalidArgument, "codegen: ", problem);
  llvm::TargetOptions options;
  options.TrapUnreachable = false;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  const std::unique_ptr<llvm::MCSubtargetInfo> generic(llvm_target->createMCSubtargetInfo(kTriple, "", ""));
  const std::string cpu = cpu_name(*generic, target);
  std::unique_ptr<llvm::TargetMachine> machine(
      llvm_target->createTargetMachine(kTriple, cpu, feature_text(*generic, target), options, llvm::Reloc::PIC_,
                                       llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
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
