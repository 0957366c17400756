// Which operator has which template: one line each.
#include "schedule/templates/templates.h"

namespace farm {

namespace {
struct Entry {
  const char* op;
  Result<Template> (*make)(const TemplateInput&);
};
constexpr Entry kTemplates[] = {
    {"conv2d", conv2d_template},
    {"depthwise_conv2d", depthwise_conv2d_template},
    {"matmul", matmul_template},
    {"batch_matmul", matmul_template},
};
}  // namespace

Result<std::shared_ptr<const ScheduleSpace>> make_space(const Task& task, const Target& target, int threads) {
  for (const auto& entry : kTemplates) {
    if (task.op != entry.op) continue;
    FARM_TRY(Compute compute, make_compute(task));
    TemplateInput input{task, std::make_shared<const Compute>(std::move(compute)), target, threads};
    FARM_TRY(Template made, entry.make(input));
    return std::make_shared<const ScheduleSpace>(task, target, threads, std::move(made.variants), std::move(made.fallback));
  }
  return fail(ErrorCode::InvalidArgument, "no schedule template for ", task.op);
}

}  // namespace farm
