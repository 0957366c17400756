#include "rpc_server/measure_worker.h"

#include <chrono>
#include <utility>

namespace farm {

MeasureWorker::MeasureWorker(Device& device) : device_(device), thread_([this] { run(); }) {}

MeasureWorker::~MeasureWorker() {
  {
    std::unique_lock lock(mutex_);
    ending_ = cancelled_ = true;
    changed_.notify_all();
    while (!ended_) {
      device_.cancel();
      changed_.wait_for(lock, std::chrono::milliseconds(50));
    }
  }
  thread_.join();
}

void MeasureWorker::start(MeasureRequest request, std::unordered_map<Hash, Blob> blobs, Done done) {
  std::lock_guard lock(mutex_);
  FARM_ASSERT(!waiting_, "a measurement waits already");
  waiting_ = Job{std::move(request), std::move(blobs), std::move(done)};
  cancelled_ = false;
  changed_.notify_all();
}

void MeasureWorker::cancel() {
  std::lock_guard lock(mutex_);
  cancelled_ = true;
  device_.cancel();
}

void MeasureWorker::run() {
  while (auto job = next_job()) job->done(measure(*job));
  std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

std::optional<MeasureWorker::Job> MeasureWorker::next_job() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ending_ || waiting_; });
  if (ending_) return std::nullopt;
  return std::exchange(waiting_, std::nullopt);
}

Result<MeasureReply> MeasureWorker::measure(const Job& job) {
  {
    std::lock_guard lock(mutex_);
    if (cancelled_) return fail(ErrorCode::Unavailable, "measurement cancelled");
  }
  return device_.measure(job.request, [&](const Hash& hash) -> std::span<const std::byte> {
    auto at = job.blobs.find(hash);
    if (at == job.blobs.end()) return {};
    return *at->second;
  });
}

}  // namespace farm
