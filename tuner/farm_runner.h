// A Runner on a device of the farm: leases it, keeps it, ships what it needs, and gets another one when it is lost.
#pragma once
#include <chrono>
#include <functional>

#include "base/clock.h"
#include "rpc/rpc.h"
#include "tuner/runner.h"

namespace farm {

struct FarmRunnerOptions {
  Address tracker;
  std::string key;   ///< "local", "rk3399"
  std::string user;  ///< who asks, for people: "name@host:pid"
  std::chrono::milliseconds unknown_key_wait{10'000};
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds patience{60'000};            ///< how long a lost device or tracker is sought again
  std::chrono::milliseconds grace{2'000};                ///< a measurement may still end for so long after a stop
  std::function<bool()> stopped;                         ///< true: give up soon, with Interrupted
  std::function<void(const QueuePosition&)> on_waiting;  ///< about once a second while in the queue
  std::function<void(const std::string&)> on_trouble;    ///< one line: what was lost, and that it is sought again
  /// Called before a lost device is sought again: whoever owns it may revive it. May be empty.
  std::function<Status()> revive;
};

class FarmRunner final : public Runner {
 public:
  /// Waits in the queue for as long as it takes. NotFound: nobody serves the key, and the error names the keys there
  /// are.
  static Result<std::unique_ptr<FarmRunner>> connect(FarmRunnerOptions options, const Clock& clock);
  ~FarmRunner() override;

  const Target& target() const override { return target_; }
  std::string device_id() const override { return device_id_; }
  bool shares_cores() const override { return shares_cores_; }
  Result<MeasureReply> measure(MeasureRequest request, const ExpectedOutput& expected) override;
  void keep() override;
  double transfer_seconds() const override { return transfer_seconds_ + (device_ ? device_->sending_seconds() : 0); }

 private:
  FarmRunner(FarmRunnerOptions options, const Clock& clock) : options_(std::move(options)), clock_(clock) {}

  Status reach_tracker();
  Status take_device();
  Status adopt(const DeviceClient& device);
  Status seek_again(const Error& why);
  Status revive_and_take();
  void let_go(const std::string& complaint);
  Status ship(const ExpectedOutput& expected);
  Result<MeasureReply> measure_once(const MeasureRequest& request, const ExpectedOutput& expected);
  bool may_go_on(Clock::time_point& stop_seen);
  bool stopped() const { return options_.stopped && options_.stopped(); }

  FarmRunnerOptions options_;
  const Clock& clock_;
  std::unique_ptr<TrackerClient> tracker_;
  std::unique_ptr<DeviceClient> device_;
  LeaseGrant lease_;
  Clock::time_point renew_at_{}, seek_until_{};
  Target target_;
  std::string device_id_;
  bool shares_cores_ = false;
  double transfer_seconds_ = 0;
};

}  // namespace farm
