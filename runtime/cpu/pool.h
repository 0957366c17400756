/* The one pool of pinned threads on which kernels run.
 *
 * Plain C over pthread_create and futex, with hidden symbols, because it is used twice: the runtime measures kernels on
 * it, and `compile` embeds its object file (CMake target farm_pool, position-independent) in every library that it
 * exports, so that what was measured is what runs. Such a library calls farm_pool_shared(threads) at each entry and
 * hands the context to the kernel. The object file needs these of libc: calloc free getpid madvise mmap munmap
 * pthread_create pthread_join pthread_sigmask sched_setaffinity sigaddset sigdelset sigfillset syscall sysconf.
 *
 * The thread that calls parallel_for is worker 0; worker w runs the w-th of `threads` contiguous, equal ranges. Workers
 * spin for about half a millisecond after a loop, then sleep: a loop in a hot pool costs 1-2 us.
 *
 * Any thread may call parallel_for at any time: who finds the pool busy (or itself inside a loop) runs his loop alone,
 * as worker 0. So does a process that was forked from the one that made the pool, since it has no workers. */
#pragma once
#include "runtime/kernel_abi.h"
#ifdef __cplusplus
extern "C" {
#endif

struct farm_pool;

struct farm_pool_options {
  int32_t threads; /* at least 1, the caller included */
  const int32_t
      *cores; /* one CPU number a worker, or null: not pinned. The caller pins itself (entry 0 is not used). */
  void (*setup)(void *); /* runs first on each new thread, or null: an alternate signal stack, AMX permission ... */
  void *setup_argument;
};

/* Null when a thread could not be made. The pool belongs to the caller. */
struct farm_pool *farm_pool_create(const struct farm_pool_options *options);
/* Ends the threads. No loop may be running. */
void farm_pool_destroy(struct farm_pool *pool);
/* Valid as long as the pool. */
struct farm_call_context *farm_pool_context(struct farm_pool *pool);

/* The pool of the whole process (of the library that this is linked into), made at the first call with `threads`
 * workers that are not pinned, ended when the library is unloaded. Never null: loops run on the caller alone where
 * threads cannot be made. Any thread may call it. */
struct farm_call_context *farm_pool_shared(int32_t threads);

#ifdef __cplusplus
}
#endif
