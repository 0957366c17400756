/* Kernels of every kind of conduct, for the tests of loader, checks and isolation. All compute
 *   out[i] = a[i] * b[i],  i in 0 .. kElements,  b being a constant that prepack copies
 * or say that they do. No libc: system calls are made by hand, as a hostile kernel would. */
#include <asm/unistd.h>

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

/* By hand, since there is no libc: arguments a to d, then -1 and 0 (mmap's descriptor and offset). */
static long system_call(long number, long a, long b, long c, long d) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = -1;
  register long r9 __asm__("r9") = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#else
#if defined(__aarch64__)
#define REGISTER(n) "x" #n
#define NUMBER "x8"
#define CALL "svc 0"
#elif defined(__arm__)
#define REGISTER(n) "r" #n
#define NUMBER "r7"
#define CALL "svc 0"
#elif defined(__riscv)
#define REGISTER(n) "a" #n
#define NUMBER "a7"
#define CALL "ecall"
#endif
  register long r0 __asm__(REGISTER(0)) = a;
  register long r1 __asm__(REGISTER(1)) = b;
  register long r2 __asm__(REGISTER(2)) = c;
  register long r3 __asm__(REGISTER(3)) = d;
  register long r4 __asm__(REGISTER(4)) = -1;
  register long r5 __asm__(REGISTER(5)) = 0;
  register long call __asm__(NUMBER) = number;
  __asm__ volatile(CALL : "+r"(r0) : "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5), "r"(call) : "memory");
  return r0;
#endif
}

int32_t exit_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  return (int32_t)system_call(__NR_exit_group, 0, 0, 0, 0); /* as if all were well */
}

int32_t fork_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  return (int32_t)system_call(__NR_clone, 17, 0, 0, 0); /* 17: SIGCHLD, as fork does */
}

int32_t kill_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  return (int32_t)system_call(__NR_kill, -1, 0, 0, 0); /* everybody, by the signal that does nothing: tests are no weapon */
}

int32_t deaf_hang_run(struct farm_call_context *context, void *const *args) {
  uint64_t all = ~(uint64_t)0;
  system_call(__NR_rt_sigprocmask, 0, (long)&all, 0, 8); /* SIG_BLOCK */
  return hang_run(context, args);
}

int32_t sleep_run(struct farm_call_context *context, void *const *args) {
  long hour[2] = {3600, 0};
  system_call(__NR_nanosleep, (long)hour, 0, 0, 0);
  return good_run(context, args);
}

#if defined(__NR_mmap2)
#define __NR_mmap __NR_mmap2
#endif
int32_t hog_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  for (;;) {
    char *block = (char *)system_call(__NR_mmap, 0, 1 << 26, 3, 0x22); /* 64 MiB */
    if ((uintptr_t)block > ~(uintptr_t)4095) return 12; /* no more */
    for (int i = 0; i < 1 << 26; i += 4096) block[i] = 1;
  }
}
