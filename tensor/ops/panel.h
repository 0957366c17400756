// Private to the room `tensor`: the loop nest of the references, fast enough to check every layer that is tuned.
//
// Every operator here is rows times columns: for 16 output columns at a time an operator gathers what they are
// multiplied with (`panel`, zero where a read falls outside), and each row is summed against it in double.
#pragma once
#include <array>
#include <cstdint>

namespace farm {

inline constexpr int kPanelColumns = 16;

struct PanelSums {
  std::array<double, kPanelColumns> sum{}, terms{};  ///< terms: sum of |products|
};

/// sum[j] = sum over d of row[d] * panel[d][j]. A product of two floats is exact in double, so the result is the same
/// on every instruction set.
PanelSums multiply_panel(const float* row, const float* panel, int64_t depth);

}  // namespace farm
