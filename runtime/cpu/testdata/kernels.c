/* Kernels of every kind of conduct, for the tests of loader, checks and isolation. All compute
 *   out[i] = a[i] * b[i],  i in 0 .. kElements,  b being a constant that prepack copies
 * or say that they do. No libc: system calls are made by hand, as a hostile kernel would. */
#include "runtime/kernel_abi.h"

enum { kElements = 1003, kRepeats = 200 };

static const float *arg_a(void *const *args) { return args[0]; }
static const float *arg_packed(void *const *args) { return args[1]; }
static float *arg_out(void *const *args) { return args[2]; }

int32_t farm_prepack(struct farm_call_context *context, void *const *args) {
  (void)context;
  const float *b = args[0];
  float *packed = args[1];
  for (int i = 0; i < kElements; ++i) packed[i] = b[i];
  return 0;
}

static void multiply(void *closure, int64_t begin, int64_t end, int32_t worker) {
  void *const *args = closure;
  (void)worker;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (int64_t i = begin; i < end; ++i) arg_out(args)[i] = arg_a(args)[i] * arg_packed(args)[i];
    __asm__ volatile("" ::: "memory");
  }
}

int32_t good_run(struct farm_call_context *context, void *const *args) {
  context->parallel_for(context, kElements, multiply, (void *)args);
  return 0;
}

int32_t slow_run(struct farm_call_context *context, void *const *args) {
  for (int i = 0; i < 60; ++i) good_run(context, args);
  return 0;
}

int32_t wrong_run(struct farm_call_context *context, void *const *args) {
  good_run(context, args);
  arg_out(args)[17] += 1.0f;
  return 0;
}

int32_t lazy_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  return 0;
}

/* Right once, then does nothing, so as to look fast. */
int32_t once_run(struct farm_call_context *context, void *const *args) {
  static int calls;
  if (calls++ == 0) good_run(context, args);
  for (volatile int i = 0; i < 3000; ++i) {
  }
  return 0;
}

int32_t code_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  return 7;
}

int32_t null_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  *(volatile int *)8 = 1;
  return 0;
}

int32_t trap_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  __builtin_trap();
}

static void crash_on_last(void *closure, int64_t begin, int64_t end, int32_t worker) {
  (void)closure, (void)begin, (void)worker;
  if (end == kElements) *(volatile int *)16 = 1;
}
int32_t worker_crash_run(struct farm_call_context *context, void *const *args) {
  context->parallel_for(context, kElements, crash_on_last, (void *)args);
  return 0;
}

static int deeper(volatile int *above) {
  volatile int block[4096];
  block[0] = *above + 1;
  return block[0] < 0 ? 0 : deeper(block) + block[1];
}
int32_t stack_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  volatile int zero = 0;
  return deeper(&zero);
}

int32_t hang_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  for (volatile int i = 0;; ++i) {
  }
}

int32_t just_after_run(struct farm_call_context *context, void *const *args) {
  good_run(context, args);
  arg_out(args)[kElements] = 1.0f;
  return 0;
}
int32_t far_after_run(struct farm_call_context *context, void *const *args) {
  good_run(context, args);
  arg_out(args)[kElements + 100] = 1.0f;
  return 0;
}
int32_t just_before_run(struct farm_call_context *context, void *const *args) {
  good_run(context, args);
  arg_out(args)[-1] = 1.0f;
  return 0;
}
int32_t input_write_run(struct farm_call_context *context, void *const *args) {
  good_run(context, args);
  ((float *)arg_a(args))[3] = 1.0f;
  return 0;
}
int32_t packed_write_run(struct farm_call_context *context, void *const *args) {
  ((float *)arg_packed(args))[3] = 1.0f;
  return good_run(context, args);
}
int32_t prepack_beyond(struct farm_call_context *context, void *const *args) {
  farm_prepack(context, args);
  ((float *)args[1])[kElements] = 1.0f;
  return 0;
}

#if defined(__x86_64__)
static long system_call(long number, long a, long b, long c, long d) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = -1;
  register long r9 __asm__("r9") = 0;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return result;
}

int32_t exit_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  return (int32_t)system_call(231, 0, 0, 0, 0); /* exit_group(0): as if all were well */
}

int32_t fork_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  return (int32_t)system_call(57, 0, 0, 0, 0);
}

int32_t kill_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  return (int32_t)system_call(62, -1, 0, 0, 0); /* kill(everybody), by the signal that does nothing: tests are no weapon */
}

int32_t deaf_hang_run(struct farm_call_context *context, void *const *args) {
  uint64_t all = ~(uint64_t)0;
  system_call(14, 0, (long)&all, 0, 8); /* sigprocmask(SIG_BLOCK) */
  return hang_run(context, args);
}

int32_t sleep_run(struct farm_call_context *context, void *const *args) {
  long hour[2] = {3600, 0};
  system_call(35, (long)hour, 0, 0, 0); /* nanosleep */
  return good_run(context, args);
}

int32_t hog_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  for (;;) {
    char *block = (char *)system_call(9, 0, 1 << 26, 3, 0x22); /* mmap 64 MiB */
    if ((uint64_t)block > ~(uint64_t)4095) return 12; /* no more */
    for (int i = 0; i < 1 << 26; i += 4096) block[i] = 1;
  }
}
#endif
