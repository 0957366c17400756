// One measurement with everything that it was made under: the only thing that the database stores.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "runtime/runtime.h"
#include "target/target.h"

namespace farm {

/// Why it was measured.
enum class Role : uint8_t {
  Trial,    ///< proposed by a search; counts against --trials
  Default,  ///< the default schedule
  Final,    ///< the best ones and the default again, interleaved, on fresh inputs
};
std::string to_string(Role role);
std::optional<Role> role_from_string(std::string_view word);

/// What is tuned, for what, how measured: records with different keys are never compared.
struct RecordKey {
  std::string task;    ///< Task::text()
  std::string target;  ///< Target::text()
  int threads = 1;
  std::string policy;  ///< MeasurePolicy::text()
  auto operator<=>(const RecordKey&) const = default;
};

struct Record {
  RecordKey key;
  std::string candidate;  ///< Candidate::text()
  Role role = Role::Trial;
  Measurement measurement;
  Hash program;                    ///< hash of the lowered program; zero when it never got that far
  std::vector<std::string> trace;  ///< executed primitives
  double flops = 0;                ///< nominal
  double peak_gflops = 0;          ///< of the cores used, taken in the same run; 0 unknown
  Target device;                   ///< as it described itself
  std::string device_key;          ///< the queue's label it was leased under: "local", "rk3399"
  std::string device_id;           ///< which one
  std::string run_id;              ///< the tune run that measured it
  uint64_t seed = 0;               ///< of that run
  int64_t build_ns = 0;            ///< spent compiling
  int64_t spent_ns = 0;            ///< tuning time that this record cost, everything included: what --time counts
  std::string time;                ///< UTC, for reading only
  std::vector<std::pair<std::string, std::string>> environment;  ///< kernel, compiler, governor, load, versions

  bool operator==(const Record&) const = default;
};

/// Identity: a hash of every field above, so that merging twice adds nothing.
Hash record_hash(const Record& record);

}  // namespace farm
