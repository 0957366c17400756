// Who runs artifacts: the loop's view of a device, wherever it is.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/runtime.h"
#include "tensor/tensor.h"

namespace farm {

/// What a task's kernels must compute on the inputs of one seed: made once, shipped by content hash.
struct ExpectedOutput {
  InputSet inputs;                ///< names the two blobs below
  std::vector<std::byte> values;  ///< float32 output, row-major
  std::vector<std::byte> terms;   ///< float32 sum |terms| of each output element

  /// Gives a device both by their hashes. Borrows: valid as long as this is.
  BlobSource blobs() const;
};
/// Evaluates the reference: as slow as a plain double loop nest.
Result<ExpectedOutput> expect_output(const Task& task, uint64_t seed);

class Runner {
 public:
  virtual ~Runner() = default;
  virtual const Target& target() const = 0;
  virtual std::string device_id() const = 0;
  /// Whether it runs on the cores that build and search here: then those wait while it measures.
  virtual bool shares_cores() const = 0;
  /// `request.inputs` is taken from `expected`. An Error is the farm's, never a candidate's: what could be retried was.
  /// Interrupted when the run shall stop.
  virtual Result<MeasureReply> measure(MeasureRequest request, const ExpectedOutput& expected) = 0;
  /// To be called a few times a second between measurements, so that the device is kept.
  virtual void keep() {}
  /// Seconds spent so far on shipping artifacts and blobs.
  virtual double transfer_seconds() const { return 0; }
};

}  // namespace farm
