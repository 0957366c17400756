/// A batch of matrix products.
///   out[b,m,n] = sum k  a[b,m,k] * b[b,k,n]
/// Shapes   a [B,M,K]   b [B,K,N], with transpose_b [B,N,K]   out [B,M,N].
/// Types    float32.      Work  2*B*M*N*K flops.
/// Source   ONNX MatMul-13 on three dimensions.
#include "tensor/ops/ops.h"
#include "tensor/ops/product.h"

namespace farm {

static Status check(const Attributes& a) {
  const char* op = "batch_matmul";
  if (a.has_all({"batch", "m", "k"}))
    FARM_CHECK(check_elements(op, "a", {a.count("batch"), a.count("m"), a.count("k")}));
  if (a.has_all({"batch", "k", "n"}))
    FARM_CHECK(check_elements(op, "b", {a.count("batch"), a.count("k"), a.count("n")}));
  if (a.has_all({"batch", "m", "n"}))
    FARM_CHECK(check_elements(op, "out", {a.count("batch"), a.count("m"), a.count("n")}));
  return {};
}

static Compute build(const Attributes& attributes) {
  int64_t batch = attributes.count("batch"), m_size = attributes.count("m"), n_size = attributes.count("n"),
          k_size = attributes.count("k");
  bool transposed = attributes.flag("transpose_b");

  Compute compute;
  Buffer left = make_buffer("a", kFloat32, {batch, m_size, k_size});
  Buffer right = make_buffer("b", kFloat32, transposed ? Shape{batch, n_size, k_size} : Shape{batch, k_size, n_size});
  compute.inputs = {{left, false}, {right, false}};

  Var b = make_var("b"), m = make_var("m"), n = make_var("n"), k = make_var("k");
  Expr factor = transposed ? load(right, {var_expr(b), var_expr(n), var_expr(k)})
                           : load(right, {var_expr(b), var_expr(k), var_expr(n)});
  compute.stages.push_back({make_buffer("out", kFloat32, {batch, m_size, n_size}),
                            {{b, batch}, {m, m_size}, {n, n_size}},
                            {{k, k_size}},
                            load(left, {var_expr(b), var_expr(m), var_expr(k)}) * factor});
  compute.flops = 2.0 * double(batch) * double(m_size) * double(n_size) * double(k_size);
  return compute;
}

static void reference_batch_matmul(const Attributes& a, const Inputs& inputs, Reference& result) {
  ProductShape shape{a.count("batch"), a.count("m"), a.count("n"), a.count("k"), a.flag("transpose_b")};
  reference_product(shape, inputs[0].data(), inputs[1].data(), nullptr, result);
}

Op batch_matmul_op() {
  return {"batch_matmul",
          {{"batch", KeyKind::Count, "1"}, {"m"}, {"n"}, {"k"}, {"transpose_b", KeyKind::Flag, "0"}},
          "batch=12,m=128,n=128,k=64",
          "the attention scores of BERT-base, 12 heads, sequence 128",
          check,
          build,
          reference_batch_matmul};
}

}  // namespace farm
