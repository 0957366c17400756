#include <atomic>
#include <thread>

#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/test_kernels.h"
#include "testing.h"

using namespace farm;

TEST_CASE("a measurement that is cancelled ends early, and the device measures again") {
  auto device = make_cpu_device().value();
  TestTask task;
  std::atomic<bool> done = false;
  std::thread canceller([&] {
    while (!done) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      device->cancel();
    }
  });
  auto request = task.request({test_artifact("hang_run")});
  request.policy.timeout = std::chrono::seconds(120);
  auto reply = device->measure(request, task.blobs());
  done = true;
  canceller.join();
  REQUIRE_FALSE(reply);
  CHECK(reply.error() == Error{ErrorCode::Unavailable, "measurement cancelled"});
  auto next = device->measure(task.request({test_artifact("good_run")}), task.blobs());
  REQUIRE(next);
  CHECK(next->measurements.at(0).outcome == Outcome::Ok);
}

TEST_CASE("cancelling an idle device does nothing") {
  auto device = make_cpu_device().value();
  device->cancel();
  TestTask task;
  auto reply = device->measure(task.request({test_artifact("good_run")}), task.blobs());
  REQUIRE(reply);
  CHECK(reply->measurements.at(0).outcome == Outcome::Ok);
}
