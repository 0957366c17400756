// What `compile` says about its work: the header's comment, lines for people, JSON for scripts.
#pragma once
#include <string>
#include <vector>

#include "apps/compile_choice.h"

namespace farm {

/// One library on disk.
struct CompiledLayer {
  std::string layer;  ///< "resnet18/conv2_x"; the task's text without a catalogue
  int occurrences = 1;
  Task task;
  int threads = 1;
  ScheduleChoice choice;
  std::string name, library_path, header_path;
  std::string prototype;  ///< "int my_conv(const float *data, const float *weight, float *out);"
};

/// Goes into the C header.
std::string header_comment(const CompiledLayer& layer);
/// For one task a flat document, for a network one with `tasks`; see docs/JSON.md.
std::string compile_json(const CompiledLayer& layer);
std::string compile_json(const std::string& network, const std::vector<CompiledLayer>& layers);
/// Four lines for one task.
std::string compile_text(const CompiledLayer& layer);
/// A line a layer.
std::string compile_table(const std::vector<CompiledLayer>& layers);

}  // namespace farm
