#include "schedule/passes/passes.h"

namespace farm {

static int64_t plan(const std::vector<Buffer>& buffers, std::vector<int64_t>& offsets) {
  constexpr int64_t kLine = 64;
  int64_t end = 0;
  offsets.clear();
  for (const auto& buffer : buffers) {
    offsets.push_back(end);
    end += (TensorType{buffer->dtype, buffer->shape}.bytes() + kLine - 1) / kLine * kLine;
  }
  return end;
}

Status plan_memory(Module& module, int) {
  module.packed_bytes = plan(module.packed, module.packed_offsets);
  module.workspace_bytes = plan(module.run().workspace, module.workspace_offsets);
  if (const Function* prepack = module.prepack())
    FARM_ASSERT(prepack->workspace.empty(), "prepack has no workspace to use");
  return {};
}

}  // namespace farm
