// Hand-written schedule templates, one file an operator. Each is a list of variants and the default among them.
#pragma once
#include <memory>
#include <vector>

#include "schedule/space.h"

namespace farm {

struct Template {
  std::vector<Variant> variants;
  Candidate fallback;  ///< the default schedule, chosen from the target's description
};

/// What a template knows: the compute and the device that it is scheduled for.
struct TemplateInput {
  Task task;
  std::shared_ptr<const Compute> compute;
  Target target;
  int threads = 1;
};

Result<Template> conv2d_template(const TemplateInput& input);
Result<Template> depthwise_conv2d_template(const TemplateInput& input);
Result<Template> matmul_template(const TemplateInput& input);  ///< batch_matmul too

}  // namespace farm
