// Worker processes that build candidates, one compiler each.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tuner/builder.h"

namespace farm {

struct BuildPoolOptions {
  /// The worker's program and arguments; it finds its socket at descriptor 0 and the pool's process id as a last
  /// argument, and calls serve_build_jobs with both.
  std::vector<std::string> command;
  int workers = 2;
  std::chrono::nanoseconds deadline{10'000'000'000};  ///< of one build; a worker beyond it is killed
};

/// A worker that dies or takes too long fails the one candidate that it built, and is replaced. No worker outlives the
/// pool or its process.
class BuildPool final : public Builder {
 public:
  /// Starts the workers; whether their program works shows with the first job.
  explicit BuildPool(BuildPoolOptions options);
  ~BuildPool() override;
  BuildPool(const BuildPool&) = delete;
  BuildPool& operator=(const BuildPool&) = delete;

  /// From one thread.
  std::vector<std::future<Result<BuildResult>>> start(std::vector<BuildJob> jobs) override;

 private:
  struct Order {
    BuildJob job;
    std::promise<Result<BuildResult>> result;
  };
  void work();
  std::optional<Order> next_order();

  BuildPoolOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Order> orders_;
  std::atomic<bool> ending_ = false;
  // One thread a worker: the kernel ends a process when the thread that started it ends, so those must live long.
  std::vector<std::thread> threads_;
};

}  // namespace farm
