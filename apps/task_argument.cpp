#include "apps/task_argument.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"

namespace farm {
namespace {

Result<Network> tasks_in_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.fail()) return fail(ErrorCode::NotFound, "file ", printable(path), " cannot be read");
  return network_from_lines(path, text.view());
}

bool looks_like_a_path(const std::string& name) {
  return name.starts_with("./") || name.starts_with("../") || name.starts_with("/") || name.ends_with(".txt");
}

}  // namespace

Result<Network> tasks_from_argument(const std::string& task, const std::optional<std::string>& shape) {
  auto named = resolve_tasks(task, shape);
  std::error_code ignored;
  if (named || task.find('(') != std::string::npos) return named;
  if (std::filesystem::is_regular_file(task, ignored)) {
    if (shape) return fail(ErrorCode::InvalidArgument, "a file of tasks has shapes of its own; leave --shape out");
    return tasks_in_file(task);
  }
  if (looks_like_a_path(task))
    return fail(ErrorCode::NotFound, "no file ", printable(task), "; --task takes a name or a file of tasks");
  return named;
}

Result<std::optional<std::string>> shape_with_constant(const std::string& task, const std::optional<std::string>& shape,
                                                       const std::optional<std::string>& constant) {
  if (!constant) return shape;
  if (task != "matmul")
    return fail(ErrorCode::InvalidArgument, "--constant ", printable(*constant), " goes with --task matmul alone");
  std::string given = shape.value_or("");
  if (!shape) {
    FARM_TRY(Task fallback, default_task(task));
    const std::string text = fallback.text();
    const size_t begin = text.find('(') + 1;
    given = text.substr(begin, text.size() - begin - 1);
  }
  return given + (given.empty() ? "" : ",") + "constant=" + *constant;
}

}  // namespace farm
