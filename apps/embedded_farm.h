// A farm of one for `--device local`: a tracker on a free loopback port and this machine as its device, as children.
#pragma once
#include <string>

#include "apps/child_program.h"
#include "rpc/rpc.h"

namespace farm {

class EmbeddedFarm {
 public:
  /// Starts both programs, which lie beside the running one. They end with this object, or with the process.
  static Result<EmbeddedFarm> start(const std::string& key);
  EmbeddedFarm(EmbeddedFarm&&) noexcept = default;
  EmbeddedFarm& operator=(EmbeddedFarm&&) noexcept = default;

  const Address& tracker() const { return address_; }
  /// Starts again what is not running; the tracker keeps its port.
  Status revive();

 private:
  EmbeddedFarm(std::string key, ChildProgram tracker, ChildProgram device);
  static Result<ChildProgram> start_tracker(uint16_t port);
  static Result<ChildProgram> start_device(const Address& tracker, const std::string& key);

  std::string key_;
  Address address_;
  ChildProgram tracker_, device_;  // the device ends first
};

}  // namespace farm
