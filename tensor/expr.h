// Expressions: the one language in which computes, loop nests and lowered kernels are written.
//
// A node is immutable and shared. Integers count elements or loop steps and are int64; a comparison is `bool`; `lanes`
// above 1 makes any of them a vector. Division is floor division: floor_div(-1, 4) = -1, floor_mod(-1, 4) = 3.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/dtype.h"

namespace farm {

/// A loop variable or an axis; identity is the address, the name is for people.
struct VarNode {
  std::string name;
};
using Var = std::shared_ptr<const VarNode>;
Var make_var(std::string name);

/// Where a buffer lives.
enum class Scope : uint8_t {
  Global,     ///< an argument of the kernel
  Workspace,  ///< scratch of one call, shared by all threads
  Thread,     ///< scratch of one worker thread (allocated inside a parallel loop)
  Register,   ///< small, constant indices after unrolling: expected to become registers
};

/// A dense row-major array; identity is the address.
struct BufferNode {
  std::string name;
  DType dtype;
  Shape shape;
  Scope scope = Scope::Global;
};
using Buffer = std::shared_ptr<const BufferNode>;
Buffer make_buffer(std::string name, DType dtype, Shape shape, Scope scope = Scope::Global);

enum class ExprKind : uint8_t {
  IntImm, FloatImm, Var,
  Add, Sub, Mul, Div, FloorDiv, FloorMod, Min, Max,  // args: a, b.  Div is for floats only.
  Eq, Ne, Lt, Le, And, Or, Not,                      // bool
  Select,     // args: condition, if true, if false. Only the chosen side's loads happen.
  Cast,       // args: value; to `dtype`
  Load,       // args: one index a dimension; once lowered one flat index, and maybe a mask (masked-off lanes read 0)
  Call,       // `name`: exp sqrt tanh ... of args
  Ramp,       // args: base, stride. `lanes` values base + i*stride
  Broadcast,  // args: a scalar, repeated over `lanes`
};

struct ExprNode;
using Expr = std::shared_ptr<const ExprNode>;

struct ExprNode {
  ExprKind kind;
  DType dtype = kInt64;
  int lanes = 1;
  int64_t int_value = 0;       // IntImm
  double float_value = 0;      // FloatImm
  Var var;                     // Var
  Buffer buffer;               // Load
  std::string name;            // Call
  std::vector<Expr> args;
  bool masked = false;         // Load, lowered: the last arg is a mask
};

// Makers. The arithmetic ones fold constants and drop neutral operands (x + 0, x * 1); nothing deeper.
Expr int_imm(int64_t value);
Expr float_imm(double value, DType dtype = kFloat32);
Expr bool_imm(bool value);
Expr var_expr(const Var& var);
Expr binary(ExprKind kind, Expr a, Expr b);
Expr select(Expr condition, Expr if_true, Expr if_false);
Expr cast(DType dtype, Expr value);
Expr load(const Buffer& buffer, std::vector<Expr> indices);
Expr masked_load(const Buffer& buffer, Expr index, Expr mask);
Expr call(std::string name, DType dtype, std::vector<Expr> args);
Expr ramp(Expr base, Expr stride, int lanes);
Expr broadcast(Expr value, int lanes);
Expr logical_not(Expr value);

inline Expr operator+(Expr a, Expr b) { return binary(ExprKind::Add, std::move(a), std::move(b)); }
inline Expr operator-(Expr a, Expr b) { return binary(ExprKind::Sub, std::move(a), std::move(b)); }
inline Expr operator*(Expr a, Expr b) { return binary(ExprKind::Mul, std::move(a), std::move(b)); }
inline Expr operator+(Expr a, int64_t b) { return std::move(a) + int_imm(b); }
inline Expr operator-(Expr a, int64_t b) { return std::move(a) - int_imm(b); }
inline Expr operator*(Expr a, int64_t b) { return std::move(a) * int_imm(b); }
inline Expr floor_div(Expr a, Expr b) { return binary(ExprKind::FloorDiv, std::move(a), std::move(b)); }
inline Expr floor_mod(Expr a, Expr b) { return binary(ExprKind::FloorMod, std::move(a), std::move(b)); }
inline Expr min_of(Expr a, Expr b) { return binary(ExprKind::Min, std::move(a), std::move(b)); }
inline Expr max_of(Expr a, Expr b) { return binary(ExprKind::Max, std::move(a), std::move(b)); }
inline Expr less(Expr a, Expr b) { return binary(ExprKind::Lt, std::move(a), std::move(b)); }
inline Expr less_equal(Expr a, Expr b) { return binary(ExprKind::Le, std::move(a), std::move(b)); }
inline Expr equal(Expr a, Expr b) { return binary(ExprKind::Eq, std::move(a), std::move(b)); }
inline Expr logical_and(Expr a, Expr b) { return binary(ExprKind::And, std::move(a), std::move(b)); }
inline Expr logical_or(Expr a, Expr b) { return binary(ExprKind::Or, std::move(a), std::move(b)); }

bool is_const_int(const Expr& expr, int64_t value);
/// The value of an IntImm, nothing otherwise.
std::optional<int64_t> const_int(const Expr& expr);

using VarMap = std::unordered_map<Var, Expr>;
/// Replaces variables; shares what does not change.
Expr substitute(const Expr& expr, const VarMap& map);
/// Rebuilds bottom-up: `rewrite` sees each node after its args were rewritten and returns its replacement, or null.
Expr rewrite(const Expr& expr, const std::function<Expr(const Expr&)>& rewrite);
/// Visits every node, parents first.
void visit(const Expr& expr, const std::function<void(const ExprNode&)>& visitor);
bool uses_var(const Expr& expr, const Var& var);
/// Equal text means equal structure: same kinds, same variables and buffers by address.
bool same_expr(const Expr& a, const Expr& b);

/// "data[n, c, y*2 + r - 1]"
std::string to_string(const Expr& expr);

}  // namespace farm
