#include "tuner/farm_runner.h"

#include <thread>

#include "base/text.h"

namespace farm {
namespace {

constexpr int kTriesOfOneRequest = 4;
constexpr std::chrono::milliseconds kPause{300};

bool is_this_machine(const Address& address) {
  return address.host.starts_with("127.") || address.host == "::1" || address.host == "localhost";
}

bool is_final(const Error& error) {
  return error.code == ErrorCode::InvalidArgument || error.code == ErrorCode::Interrupted;
}

}  // namespace

Result<std::unique_ptr<FarmRunner>> FarmRunner::connect(FarmRunnerOptions options, const Clock& clock) {
  std::unique_ptr<FarmRunner> runner(new FarmRunner(std::move(options), clock));
  runner->seek_until_ = clock.now() + runner->options_.patience;
  FARM_CHECK(runner->reach_tracker());
  FARM_CHECK(runner->take_device());
  return runner;
}

FarmRunner::~FarmRunner() { let_go(""); }

Status FarmRunner::reach_tracker() {
  if (tracker_) return {};
  FARM_TRY(tracker_, TrackerClient::connect(options_.tracker, options_.connect_timeout, options_.user));
  return {};
}

Status FarmRunner::take_device() {
  auto progress = [this](const QueuePosition& position) {
    if (options_.on_waiting) options_.on_waiting(position);
    return !stopped() && (position.connected || clock_.now() < seek_until_);
  };
  auto lease = tracker_->lease(options_.key, 0, options_.unknown_key_wait, progress);
  if (!lease && lease.error().code == ErrorCode::Interrupted && !stopped()) {
    return fail(ErrorCode::Unavailable, "the tracker at ", options_.tracker.text(), " is away");
  }
  FARM_TRY(lease_, lease);
  renew_at_ = clock_.now() + lease_.ttl / 3;
  auto device = DeviceClient::connect(lease_, options_.connect_timeout);
  if (!device) {
    let_go(device.error().message);
    return std::unexpected(device.error());
  }
  device_ = *std::move(device);
  return adopt(*device_);
}

// A replacement must be the same kind of device: records of one run belong to one target.
Status FarmRunner::adopt(const DeviceClient& device) {
  if (!device_id_.empty() && device.target().text() != target_.text()) {
    const std::string other = device.target().text();
    let_go("");
    return fail(ErrorCode::Unavailable, "the device found again under ", options_.key, " is ", other, ", not ",
                target_.text());
  }
  target_ = device.target();
  device_id_ = device.device_id();
  shares_cores_ = is_this_machine(lease_.device);
  return {};
}

void FarmRunner::let_go(const std::string& complaint) {
  transfer_seconds_ = transfer_seconds();
  device_.reset();
  if (tracker_ && lease_.token.epoch != 0) {
    if (complaint.empty())
      (void)tracker_->release(lease_.token);
    else
      (void)tracker_->report_bad(lease_.token, complaint);
  }
  lease_ = {};
}

void FarmRunner::keep() {
  if (!tracker_ || lease_.token.epoch == 0 || clock_.now() < renew_at_) return;
  // A failed renewal shows at the next measurement, which then takes a new lease.
  (void)tracker_->renew(lease_.token);
  renew_at_ = clock_.now() + lease_.ttl / 3;
}

Result<MeasureReply> FarmRunner::measure(MeasureRequest request, const ExpectedOutput& expected) {
  request.inputs = expected.inputs;
  for (int tries = 1;; ++tries) {
    auto reply = device_ ? measure_once(request, expected) : fail(ErrorCode::Unavailable, "no device is held");
    if (reply || is_final(reply.error())) return reply;
    if (stopped()) return fail(ErrorCode::Interrupted, "stopped while the device was lost");
    if (tries == kTriesOfOneRequest)
      return fail(ErrorCode::Unavailable, "device ", options_.key, " failed ", tries,
                  " times at one request: ", reply.error().message);
    if (reply.error().code == ErrorCode::NotFound) continue;  // it dropped a blob, which is shipped again
    FARM_CHECK(seek_again(reply.error()));
  }
}

Result<MeasureReply> FarmRunner::measure_once(const MeasureRequest& request, const ExpectedOutput& expected) {
  FARM_CHECK(ship(expected));
  Clock::time_point stop_seen{};
  return device_->measure(request, [&] { return may_go_on(stop_seen); });
}

Status FarmRunner::ship(const ExpectedOutput& expected) {
  const auto begin = clock_.now();
  FARM_CHECK(device_->put_blob(expected.values));
  FARM_CHECK(device_->put_blob(expected.terms));
  transfer_seconds_ += std::chrono::duration<double>(clock_.now() - begin).count();
  return {};
}

// What is nearly measured is worth a moment's waiting.
bool FarmRunner::may_go_on(Clock::time_point& stop_seen) {
  keep();
  if (!stopped()) return true;
  if (stop_seen == Clock::time_point{}) stop_seen = clock_.now();
  return clock_.now() - stop_seen < options_.grace;
}

Status FarmRunner::seek_again(const Error& why) {
  if (options_.on_trouble) options_.on_trouble("lost the device: " + why.message + "; seeking it again");
  let_go(why.code == ErrorCode::DeadlineExceeded ? why.message : "");
  seek_until_ = clock_.now() + options_.patience;
  for (;;) {
    auto taken = revive_and_take();
    if (taken) return taken;
    if (stopped() || taken.error().code == ErrorCode::Interrupted)
      return fail(ErrorCode::Interrupted, "stopped while the device was lost");
    if (clock_.now() >= seek_until_) {
      return fail(ErrorCode::Unavailable, "device ", printable(options_.key), " was lost and not found again within ",
                  format_duration(options_.patience), ": ", taken.error().message,
                  "; the same command goes on from here");
    }
    std::this_thread::sleep_for(kPause);
  }
}

Status FarmRunner::revive_and_take() {
  if (options_.revive) FARM_CHECK(options_.revive());
  tracker_.reset();  // a fresh connection: the old one may wait for a tracker that is gone
  FARM_CHECK(reach_tracker());
  return take_device();
}

}  // namespace farm
