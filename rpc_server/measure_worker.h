// One thread that measures, so that heartbeats and the lease's end go on meanwhile.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "rpc_server/blob_cache.h"
#include "runtime/runtime.h"

namespace farm {

/// Called from one thread, the event loop's; `done` is called on the worker's.
class MeasureWorker {
 public:
  using Done = std::function<void(Result<MeasureReply>)>;
  explicit MeasureWorker(Device& device);
  /// Cancels what runs and waits for its end.
  ~MeasureWorker();

  /// Only while idle: before the first call and after the last `done`. `blobs` are those that the request names.
  void start(MeasureRequest request, std::unordered_map<Hash, Blob> blobs, Done done);
  /// The running measurement ends soon with an error. A device that was just about to begin may miss it: repeat until
  /// `done`.
  void cancel();

 private:
  struct Job {
    MeasureRequest request;
    std::unordered_map<Hash, Blob> blobs;
    Done done;
  };
  void run();
  std::optional<Job> next_job();
  Result<MeasureReply> measure(const Job& job);

  Device& device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Job> waiting_;
  bool cancelled_ = false;  ///< the job at hand
  bool ending_ = false, ended_ = false;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace farm
