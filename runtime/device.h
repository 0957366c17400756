// A device that runs kernels: local cores here, other kinds behind the same door later.
#pragma once
#include <functional>
#include <memory>
#include <span>

#include "base/result.h"
#include "runtime/measurement.h"
#include "target/target.h"

namespace farm {

/// Gives the bytes of a blob that a request names by hash; empty when unknown.
using BlobSource = std::function<std::span<const std::byte>(const Hash&)>;

class Device {
 public:
  virtual ~Device() = default;
  /// As measured at start: ISA, caches, cores, peak rate.
  virtual const Target& target() const = 0;
  /// Runs a request to its end; isolation is the device's own work, so nothing an artifact does ends the caller.
  /// An Error means that the device itself failed (infrastructure: retried elsewhere, never learned from).
  virtual Result<MeasureReply> measure(const MeasureRequest& request, const BlobSource& blobs) = 0;
  /// From any thread: ends a running measure() within a second, which then returns Unavailable; without one, no effect.
  /// The device server calls it when a lease ends or a client is gone.
  virtual void cancel() {}
};

}  // namespace farm
