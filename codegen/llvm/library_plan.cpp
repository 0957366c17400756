#include "codegen/llvm/library_plan.h"

#include <algorithm>
#include <cctype>

namespace farm::codegen {
namespace {

bool is_c_identifier(const std::string& name) {
  const auto word = [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), word);
}

Result<std::vector<Buffer>> ordered_operands(const Module& module, const std::vector<std::string>& names) {
  std::vector<Buffer> all = module.inputs;
  all.insert(all.end(), module.constants.begin(), module.constants.end());
  if (names.empty()) return all;
  std::vector<Buffer> ordered;
  for (const auto& name : names) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Buffer& buffer) { return buffer->name == name; });
    if (found == all.end()) return fail(ErrorCode::InvalidArgument, "codegen: the kernel has no operand ", name);
    ordered.push_back(*found);
    all.erase(found);
  }
  if (!all.empty())
    return fail(ErrorCode::InvalidArgument, "codegen: operand ", all[0]->name, " is left out of the library");
  return ordered;
}

}  // namespace

Result<LibraryPlan> plan_library(const Module& module, const LibraryOptions& options) {
  if (!is_c_identifier(options.name))
    return fail(ErrorCode::InvalidArgument, "library name is ", options.name,
                "; a C identifier is needed, such as my_conv");
  LibraryPlan plan{.name = options.name,
                   .threads = options.threads,
                   .comment = options.comment,
                   .inputs = module.inputs,
                   .constants = module.constants,
                   .output = module.output,
                   .shapes = options.shapes,
                   .packed_bytes = module.packed_bytes,
                   .workspace_bytes = module.workspace_bytes};
  FARM_TRY(plan.operands, ordered_operands(module, options.operands));
  return plan;
}

}  // namespace farm::codegen
