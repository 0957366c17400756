#include "runtime/cpu/runner.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <list>
#include <map>
#include <optional>

#include "base/text.h"
#include "runtime/cpu/child_process.h"
#include "runtime/cpu/frame_io.h"
#include "runtime/cpu/sandbox.h"
#include "runtime/cpu/statistics.h"
#include "runtime/encoding.h"

namespace farm {

// Messages
// ----------------------------------------------------------------------------------------------------------------

void encode(ByteWriter& out, const RunnerRequest& value) {
  out.boolean(value.forget_blobs);
  out.count(value.blobs.size());
  for (const auto& [hash, bytes] : value.blobs) {
    out.hash(hash);
    out.bytes(bytes);
  }
  encode(out, value.request);
}
void decode(ByteReader& in, RunnerRequest& value) {
  value.forget_blobs = in.boolean();
  value.blobs.resize(in.count(1024, 20));
  for (auto& [hash, bytes] : value.blobs) {
    hash = in.hash();
    bytes = in.bytes(kMaxRunnerMessage);
  }
  decode(in, value.request);
}

void encode(ByteWriter& out, const RunnerReply& value) {
  out.u8(static_cast<uint8_t>(value.error.code));
  out.text(value.error.message);
  encode(out, value.reply);
  out.boolean(value.filtered);
}
void decode(ByteReader& in, RunnerReply& value) {
  value.error.code = in.enumeration(ErrorCode::Interrupted);
  value.error.message = in.text(kMaxTextBytes);
  decode(in, value.reply);
  value.filtered = in.boolean();
}

// Service
// -----------------------------------------------------------------------------------------------------------------

static constexpr double kGoldenBlockNs = 30'000;
static constexpr int kPeakBlocks = 100;       // 3 ms
static constexpr int kFirstPeakBlocks = 700;  // 20 ms, once
static constexpr size_t kCachedInputs = 3;
static constexpr int kFirstInputSlot = 1024;  // those below are the children's

class Runner {
 public:
  Runner(int socket, const Target& target, const std::vector<int>& cores)
      : socket_(socket),
        target_(target),
        cores_(cores),
        launcher_(socket),
        golden_(widest_fma(target)),
        golden_rounds_(calibrate_rounds(golden_, kGoldenBlockNs)),
        golden_best_ns_(cores.size()) {}

  /// The first message: what one core can do.
  RunnerReply hello() {
    RunnerReply reply;
    measure_golden(static_cast<int>(cores_.size()), kFirstPeakBlocks);
    reply.reply.peak_gflops = measure_golden(1, kFirstPeakBlocks);
    reply.filtered = filtered_;
    return reply;
  }

  RunnerReply serve(RunnerRequest message) {
    if (message.forget_blobs) blobs_.clear();
    for (auto& [hash, bytes] : message.blobs) blobs_[hash] = std::move(bytes);
    RunnerReply reply;
    auto measured = measure(message.request);
    if (measured)
      reply.reply = std::move(*measured);
    else
      reply.error = measured.error();
    return reply;
  }

 private:
  Result<MeasureReply> measure(const MeasureRequest& request) {
    FARM_TRY(ChildJob job, common_job(request));
    MeasureReply reply;
    reply.measurements.resize(request.artifacts.size());
    peak_gflops_ = 0;
    std::vector<size_t> accepted;
    for (size_t i = 0; i < request.artifacts.size(); ++i) {
      FARM_TRY(auto refusal, refuse(request.artifacts[i], job));
      if (refusal)
        reply.measurements[i] = failed(refusal->outcome, refusal->detail);
      else
        accepted.push_back(i);
    }
    for (const auto& group : groups(accepted, request.interleave))
      FARM_CHECK(measure_group(request, job, group, reply.measurements));
    for (auto& measurement : reply.measurements) measurement.clock = clock_of(target_);
    if (request.measure_peak && peak_gflops_ == 0) peak_gflops_ = measure_golden(job.peak_threads, kPeakBlocks);
    reply.peak_gflops = request.measure_peak ? peak_gflops_ : 0;
    return reply;
  }

  static std::vector<std::vector<size_t>> groups(const std::vector<size_t>& indices, bool interleave) {
    if (interleave && !indices.empty()) return {indices};
    std::vector<std::vector<size_t>> singles;
    for (size_t index : indices) singles.push_back({index});
    return singles;
  }

  Result<std::span<const float>> floats(const Hash& hash, std::string_view what) const {
    auto blob = blobs_.find(hash);
    if (blob == blobs_.end())
      return fail(ErrorCode::InvalidArgument, "the ", what, " output ", to_string(hash), " was not sent to the device");
    return std::span(reinterpret_cast<const float*>(blob->second.data()), blob->second.size() / sizeof(float));
  }

  Result<ChildJob> common_job(const MeasureRequest& request) {
    ChildJob job;
    FARM_TRY(job.expected, floats(request.inputs.expected, "expected"));
    FARM_TRY(job.terms, floats(request.inputs.terms, "terms of the"));
    job.tolerance = request.inputs.tolerance;
    job.policy = request.policy;
    job.times_count = !target_.emulated;
    job.best_ns = job.times_count ? request.best_ns : 0;  // of another clock
    job.cores = cores_;
    job.golden = golden_;
    job.golden_rounds = golden_rounds_;
    job.golden_best_ns = golden_best_ns_;
    job.peak_blocks = request.measure_peak ? kPeakBlocks : 0;
    for (const auto& artifact : request.artifacts)
      job.peak_threads = std::clamp(artifact.threads, job.peak_threads, static_cast<int>(cores_.size()));
    while (inputs_.size() > kCachedInputs) inputs_.pop_front();
    return job;
  }

  static Measurement failed(Outcome outcome, std::string detail) {
    Measurement measurement;
    measurement.outcome = outcome;
    measurement.detail = std::move(detail);
    return measurement;
  }

  static int64_t bytes_needed(const Artifact& artifact) {
    constexpr int64_t kMost = int64_t{1} << 50;  // so that the sum of hostile sizes does not overflow
    int64_t bytes =
        std::min(artifact.packed_bytes, kMost) + std::min(artifact.workspace_bytes, kMost) + artifact.output.bytes();
    for (const auto* types : {&artifact.inputs, &artifact.constants})
      for (const auto& type : *types) bytes += type.bytes();
    return bytes;
  }

  /// Half of the device's memory, and where pointers have 32 bits a part of the addresses: inputs are there twice
  /// while they are made.
  int64_t usable_bytes() const {
    constexpr int64_t kAddresses = sizeof(void*) < 8 ? int64_t{1} << 30 : int64_t{1} << 46;
    return std::min(target_.memory_bytes / 2, kAddresses);
  }

  /// What can be said about an artifact without running it; nothing when all is well. An Error when the request itself
  /// makes no sense.
  Result<std::optional<Fault>> refuse(const Artifact& artifact, const ChildJob& job) const {
    auto launch_failed = [](std::string detail) {
      return std::optional(Fault{Outcome::LaunchFailed, std::move(detail)});
    };
    if (artifact.format != ArtifactFormat::Elf) return launch_failed("a cpu runs elf artifacts only");
    if (isa_family(artifact.isa) != isa_family(target_.isa))
      return launch_failed("built for " + printable(artifact.isa) + ", device is " + target_.isa);
    for (const auto& feature : artifact.features)
      if (!target_.has(feature))
        return launch_failed("needs " + printable(feature) + ", which this device (" + target_.text() + ") lacks");
    if (artifact.threads < 1 || artifact.threads > static_cast<int>(cores_.size()))
      return launch_failed(
          fmt::format("needs {} threads when this device has {} cores", artifact.threads, cores_.size()));
    for (const auto* types : {&artifact.inputs, &artifact.constants})
      for (const auto& type : *types)
        if (type.dtype != kFloat32)
          return launch_failed("an operand is " + to_string(type) + "; only float32 can be measured");
    if (bytes_needed(artifact) > usable_bytes())
      return launch_failed(fmt::format("needs {} MiB of memory; this device gives a kernel {}",
                                       bytes_needed(artifact) >> 20, usable_bytes() >> 20));
    auto elements = static_cast<size_t>(artifact.output.elements());
    if (artifact.output.dtype != kFloat32 || elements != job.expected.size() || elements != job.terms.size())
      return fail(ErrorCode::InvalidArgument, "the expected output has ", job.expected.size(), " elements and ",
                  job.terms.size(), " terms when the artifact's output is ", to_string(artifact.output));
    return std::nullopt;
  }

  /// Measures `group` in one child; who ends the child is marked and left out, and the others get another one.
  Status measure_group(const MeasureRequest& request, ChildJob job, std::vector<size_t> group,
                       std::vector<Measurement>& results) {
    while (!group.empty()) {
      job.artifacts.clear();
      job.inputs.clear();
      for (size_t index : group) {
        job.artifacts.push_back(&request.artifacts[index]);
        FARM_TRY(const auto* inputs, inputs_for(request.inputs.seed, request.artifacts[index]));
        job.inputs.push_back(inputs);
      }
      auto reply = launcher_.run(job);
      if (reply) {
        for (size_t i = 0; i < group.size(); ++i) results[group[i]] = std::move(reply->measurements[i]);
        note_golden(*reply, job.peak_threads);
        return {};
      }
      size_t guilty = std::min(static_cast<size_t>(reply.error().active), group.size() - 1);
      results[group[guilty]] = failed(reply.error().fault.outcome, reply.error().fault.detail);
      group.erase(group.begin() + static_cast<std::ptrdiff_t>(guilty));
    }
    return {};
  }

  /// Inputs are made once for a seed and signature; children find them in their copy of this process' memory.
  Result<const std::vector<GuardedBuffer>*> inputs_for(uint64_t seed, const Artifact& artifact) {
    std::vector<TensorType> types = artifact.inputs;
    types.insert(types.end(), artifact.constants.begin(), artifact.constants.end());
    for (const auto& entry : inputs_)
      if (entry.seed == seed && entry.types == types && entry.constants == artifact.constants.size())
        return &entry.buffers;
    CachedInputs entry{seed, types, artifact.constants.size(), {}};
    int slot = kFirstInputSlot + 64 * (next_entry_++ % 64);
    auto values = make_inputs(seed, types);
    for (size_t i = 0; i < types.size(); ++i) {
      bool constant = i >= artifact.inputs.size();
      std::string name =
          fmt::format("{} {}", constant ? "constant" : "input", constant ? i - artifact.inputs.size() : i);
      FARM_TRY(auto buffer, GuardedBuffer::make(static_cast<size_t>(types[i].bytes()), name, slot++));
      std::ranges::copy(values[i], buffer.floats().begin());
      buffer.protect_read_only();
      entry.buffers.push_back(std::move(buffer));
    }
    inputs_.push_back(std::move(entry));
    return &inputs_.back().buffers;
  }

  /// Keeps the best golden time, against which drift is counted, and this request's peak.
  void note_golden(const ChildReply& reply, int threads) {
    if (reply.golden_ns <= 0) return;
    double& best = golden_best_ns_[static_cast<size_t>(threads - 1)];
    if (best == 0 || reply.golden_ns < best) best = reply.golden_ns;
    double flops = golden_.flops_per_round * static_cast<double>(golden_rounds_) * threads;
    peak_gflops_ = std::max(peak_gflops_, flops / reply.golden_ns * drift_correction(reply.golden_ns / best));
  }

  /// Peak of `threads` cores at once in GFLOP/s; 0 when the child came to no end.
  double measure_golden(int threads, int blocks) {
    ChildJob job;
    job.cores = cores_;
    job.golden = golden_;
    job.golden_rounds = golden_rounds_;
    job.golden_best_ns = golden_best_ns_;
    job.peak_blocks = blocks;
    job.peak_threads = threads;
    peak_gflops_ = 0;
    if (auto reply = launcher_.run(job)) {
      note_golden(*reply, threads);
      filtered_ = reply->filtered;
    }
    return peak_gflops_;
  }

  struct CachedInputs {
    uint64_t seed;
    std::vector<TensorType> types;
    size_t constants;
    std::vector<GuardedBuffer> buffers;
  };

  int socket_;
  Target target_;
  std::vector<int> cores_;
  ChildLauncher launcher_;
  FmaKernel golden_;
  uint64_t golden_rounds_;
  std::vector<double> golden_best_ns_;
  double peak_gflops_ = 0;
  bool filtered_ = false;
  std::map<Hash, std::vector<std::byte>> blobs_;
  std::list<CachedInputs> inputs_;
  int next_entry_ = 0;
};

static void answer(int socket, const RunnerReply& reply) {
  if (!write_frame(socket, to_bytes(reply))) _exit(0);
}

void run_runner(int socket, const Target& target, const std::vector<int>& cores) {
  setpgid(0, 0);  // Ctrl-C is the server's business
  leave_parent_behind(std::span(&socket, 1));
  prctl(PR_SET_NAME, "farm-runner");
  Runner runner(socket, target, cores);
  answer(socket, runner.hello());
  while (true) {
    wait_for_server(socket);
    auto bytes = read_frame(socket, kMaxRunnerMessage, Deadline::max());
    if (!bytes) _exit(0);
    auto message = from_bytes<RunnerRequest>(*bytes, "request to the runner");
    answer(socket, message ? runner.serve(std::move(*message)) : RunnerReply{message.error(), {}});
  }
}

}  // namespace farm
