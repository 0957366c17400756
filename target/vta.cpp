#include "target/vta.h"

namespace farm {

std::string VtaConfig::text() const {
  std::string text = "1x" + std::to_string(kVtaBlock) + "_i8w8a32";
  for (int log2 : {uop_log2_bytes, input_log2_bytes, weight_log2_bytes, accumulator_log2_bytes})
    text += "_" + std::to_string(log2);
  return text;
}

Hash vta_bitstream() { return hash_text("vta " + kVtaConfig.text()); }

Target vta_target() {
  Target target;
  target.isa = "vta";
  target.cpu = kVtaConfig.text();
  target.model = "VTA, simulated";
  target.vector_bits = static_cast<int>(kVtaBlock) * 8;
  target.cores = 1;
  target.l1_bytes = target.l2_bytes = 0;  // its memories are scratchpads: kVtaConfig has them
  return target;
}

}  // namespace farm
