/// Matrix product.
///   out[m,n] = sum k  a[m,k] * b[k,n]  (+ bias[n])
/// Shapes   a [M,K]   b [K,N], with transpose_b [N,K]   bias [N]   out [M,N].
/// Operands a, b, bias; with constant=b the order is a, bias, b: constants come last in every compute.
/// Types    float32.      Work  2*M*N*K flops; the bias is not counted.
/// Source   ONNX Gemm-13 with alpha = beta = 1.
#include "tensor/ops/ops.h"
#include "tensor/ops/product.h"

namespace farm {

static Status check(const Attributes& a) {
  if (a.has_all({"m", "k"})) FARM_CHECK(check_elements("matmul", "a", {a.count("m"), a.count("k")}));
  if (a.has_all({"k", "n"})) FARM_CHECK(check_elements("matmul", "b", {a.count("k"), a.count("n")}));
  if (a.has_all({"m", "n"})) FARM_CHECK(check_elements("matmul", "out", {a.count("m"), a.count("n")}));
  return {};
}

static Compute build(const Attributes& attributes) {
  int64_t m_size = attributes.count("m"), n_size = attributes.count("n"), k_size = attributes.count("k");
  bool transposed = attributes.flag("transpose_b"), biased = attributes.flag("bias"),
       constant = attributes.word("constant") == "b";

  Compute compute;
  Buffer a = make_buffer("a", kFloat32, {m_size, k_size});
  Buffer b = make_buffer("b", kFloat32, transposed ? Shape{n_size, k_size} : Shape{k_size, n_size});
  Buffer bias = make_buffer("bias", kFloat32, {n_size});
  compute.inputs = {{a, false}, {b, constant}};
  if (biased) compute.inputs.insert(constant ? compute.inputs.begin() + 1 : compute.inputs.end(), Operand{bias, false});

  Var m = make_var("m"), n = make_var("n"), k = make_var("k");
  Expr right = transposed ? load(b, {var_expr(n), var_expr(k)}) : load(b, {var_expr(k), var_expr(n)});
  Buffer product =
      make_buffer(biased ? "product" : "out", kFloat32, {m_size, n_size}, biased ? Scope::Workspace : Scope::Global);
  compute.stages.push_back(
      {product, {{m, m_size}, {n, n_size}}, {{k, k_size}}, load(a, {var_expr(m), var_expr(k)}) * right});
  if (biased) {
    Var row = make_var("m"), column = make_var("n");
    compute.stages.push_back({make_buffer("out", kFloat32, {m_size, n_size}),
                              {{row, m_size}, {column, n_size}},
                              {},
                              load(product, {var_expr(row), var_expr(column)}) + load(bias, {var_expr(column)})});
  }
  compute.flops = 2.0 * double(m_size) * double(n_size) * double(k_size);
  return compute;
}

static void reference_matmul(const Attributes& a, const Inputs& inputs, Reference& result) {
  bool biased = a.flag("bias"), constant = a.word("constant") == "b";
  const float* b = inputs[biased && constant ? 2 : 1].data();
  const float* bias = biased ? inputs[constant ? 1 : 2].data() : nullptr;
  reference_product({1, a.count("m"), a.count("n"), a.count("k"), a.flag("transpose_b")}, inputs[0].data(), b, bias,
                    result);
}

Op matmul_op() {
  return {"matmul",
          {{"m"},
           {"n"},
           {"k"},
           {"bias", KeyKind::Flag, "0"},
           {"transpose_b", KeyKind::Flag, "0"},
           {"constant", KeyKind::Word, "", {"b"}}},
          "m=1024,n=1024,k=1024",
          "the product of two 1024x1024 matrices",
          check,
          build,
          reference_matmul};
}

}  // namespace farm
