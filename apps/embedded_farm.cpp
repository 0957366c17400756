#include "apps/embedded_farm.h"

#include <utility>

namespace farm {

EmbeddedFarm::EmbeddedFarm(std::string key, ChildProgram tracker, ChildProgram device)
    : key_(std::move(key)),
      address_{"127.0.0.1", tracker.port()},
      tracker_(std::move(tracker)),
      device_(std::move(device)) {}

Result<ChildProgram> EmbeddedFarm::start_tracker(uint16_t port) {
  return ChildProgram::start(
      {.program = program_beside_this("tracker"), .args = {"--port", std::to_string(port), "--log", "error"}});
}

Result<ChildProgram> EmbeddedFarm::start_device(const Address& tracker, const std::string& key) {
  return ChildProgram::start({.program = program_beside_this("rpc_server"),
                              .args = {"--tracker", tracker.text(), "--key", key, "--port", "0", "--log", "error"}});
}

Result<EmbeddedFarm> EmbeddedFarm::start(const std::string& key) {
  FARM_TRY(auto tracker, start_tracker(0));
  FARM_TRY(auto device, start_device({"127.0.0.1", tracker.port()}, key));
  return EmbeddedFarm(key, std::move(tracker), std::move(device));
}

Status EmbeddedFarm::revive() {
  if (!tracker_.running()) {
    FARM_TRY(tracker_, start_tracker(address_.port));
  }
  if (!device_.running()) {
    FARM_TRY(device_, start_device(address_, key_));
  }
  return {};
}

}  // namespace farm
