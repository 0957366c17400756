/* The contract between generated code and whoever calls it. Plain C: an exported library uses it too. */
#pragma once
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Runs body(closure, begin, end, worker) so that the ranges cover 0 .. count once; returns when all are done.
   `worker` is in 0 .. threads-1, and of the calls that one parallel_for makes no two with the same worker overlap in
   time. A parallel_for inside a body, or beside another one on the same pool, runs its whole loop on the caller as
   worker 0. */
typedef void (*farm_parallel_body)(void *closure, int64_t begin, int64_t end, int32_t worker);

/* NOLINTNEXTLINE(readability-identifier-naming): a C name, spelt like those of the functions. */
struct farm_call_context {
  void (*parallel_for)(struct farm_call_context *context, int64_t count, farm_parallel_body body, void *closure);
  void *pool;
};

/* A generated function: 0 is success. `args` as documented at schedule's Module. */
typedef int32_t (*farm_kernel)(struct farm_call_context *context, void *const *args);

#ifdef __cplusplus
}
#endif
