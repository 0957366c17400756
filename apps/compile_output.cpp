#include "apps/compile_output.h"

#include <fmt/format.h>

#include "base/text.h"

namespace farm {
namespace {

std::string record_text(const ScheduleChoice& choice) { return to_string(record_hash(*choice.record)); }

std::string threads_text(int threads) { return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s"); }

std::string milliseconds(const ScheduleChoice& choice) {
  return fmt::format("{:.4g} ms", choice.record->measurement.latency_ns / 1e6);
}

std::string schedule_text(const ScheduleChoice& choice) {
  if (!choice.record) return "default " + choice.candidate.text();
  return fmt::format("tuned {}, {} in record {}{}", choice.candidate.text(), milliseconds(choice), record_text(choice),
                     choice.exact ? "" : " of another cpu");
}

std::string json_fields(const CompiledLayer& layer) {
  const auto& choice = layer.choice;
  std::string record = "null", latency = "null";
  if (choice.record) {
    record = json_text(record_text(choice));
    latency = fmt::format("{}", choice.record->measurement.latency_ns);
  }
  return fmt::format(
      "\"task\":{},\"target\":{},\"threads\":{},\"schedule\":\"{}\",\"candidate\":{},\"record\":{},\"latency_ns\":{},"
      "\"exact\":{},\"name\":{},\"library\":{},\"header\":{}",
      json_text(layer.task.text()), json_text(choice.target.text()), layer.threads, choice.record ? "tuned" : "default",
      json_text(choice.candidate.text()), record, latency, choice.exact ? "true" : "false", json_text(layer.name),
      json_text(layer.library_path), json_text(layer.header_path));
}

/// Known only when every layer has a record.
std::string network_latency(const std::vector<CompiledLayer>& layers) {
  double sum = 0;
  for (const auto& layer : layers) {
    if (!layer.choice.record) return "null";
    sum += layer.occurrences * layer.choice.record->measurement.latency_ns;
  }
  return fmt::format("{}", sum);
}

}  // namespace

std::string header_comment(const CompiledLayer& layer) {
  std::string text = "Task: " + layer.task.text() + "\nSchedule: " + schedule_text(layer.choice);
  if (layer.layer != layer.task.text()) text = "Layer: " + layer.layer + "\n" + text;
  return text;
}

std::string compile_json(const CompiledLayer& layer) { return "{" + json_fields(layer) + "}\n"; }

std::string compile_json(const std::string& network, const std::vector<CompiledLayer>& layers) {
  std::string text = "{\"network\":" + json_text(network) + ",\"tasks\":[";
  const char* separator = "\n";
  for (const auto& layer : layers) {
    text += fmt::format("{}{{\"layer\":{},\"occurrences\":{},{}}}", separator, json_text(layer.layer),
                        layer.occurrences, json_fields(layer));
    separator = ",\n";
  }
  return text + "],\n\"network_ns\":" + network_latency(layers) + "}\n";
}

std::string compile_text(const CompiledLayer& layer) {
  return fmt::format("compiled  {} for {}, {}\nschedule  {}\nwrote     {} and {}\nfunction  {}\n", layer.task.text(),
                     layer.choice.target.text(), threads_text(layer.threads), schedule_text(layer.choice),
                     layer.library_path, layer.header_path, layer.prototype);
}

std::string compile_table(const std::vector<CompiledLayer>& layers) {
  std::string text;
  for (const auto& layer : layers)
    text += fmt::format("{:<28} {:<9} {}\n", layer.layer,
                        layer.choice.record ? milliseconds(layer.choice) : std::string("default"), layer.library_path);
  return text;
}

}  // namespace farm
