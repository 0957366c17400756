#include "runtime/cpu/sandbox.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

namespace farm {

#if defined(__SANITIZE_ADDRESS__)
static constexpr bool kSanitized = true;  // its shadow memory and its reports need what the sandbox forbids
#else
static constexpr bool kSanitized = false;
#endif

static void close_range_of(unsigned first, unsigned last) {
  if (first > last) return;
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, last, 0) == 0) return;
#endif
  auto limit = static_cast<unsigned>(std::clamp(sysconf(_SC_OPEN_MAX), 256L, 65536L));
  for (unsigned fd = first; fd <= std::min(last, limit); ++fd) close(static_cast<int>(fd));
}

static void close_all_but(std::vector<int> keep) {
  std::ranges::sort(keep);
  unsigned first = 3;
  for (int fd : keep) {
    if (fd < 3) continue;
    close_range_of(first, static_cast<unsigned>(fd) - 1);
    first = static_cast<unsigned>(fd) + 1;
  }
  close_range_of(first, ~0u);
}

static void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void leave_parent_behind(std::span<const int> keep) {
  reset_signals();
  int null = open("/dev/null", O_RDWR);
  if (null >= 0) {
    dup2(null, 0);
    dup2(null, 1);
  }
  close_all_but({keep.begin(), keep.end()});
}

static void limit(int resource, int64_t value) {
  rlimit now;
  if (getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return;
  auto wanted = static_cast<rlim_t>(std::clamp<int64_t>(value, 0, std::numeric_limits<long>::max()));
  now.rlim_cur = now.rlim_max == RLIM_INFINITY ? wanted : std::min(wanted, now.rlim_max);
  now.rlim_max = now.rlim_cur;
  setrlimit(static_cast<__rlimit_resource>(resource), &now);
}

/// Address space that is mapped now, in bytes.
static int64_t mapped_bytes() {
  long pages = 0;
  if (FILE* file = fopen("/proc/self/statm", "r")) {
    if (fscanf(file, "%ld", &pages) != 1) pages = 0;
    fclose(file);
  }
  return int64_t{pages} * sysconf(_SC_PAGESIZE);
}

void limit_process(int parent, int64_t cpu_seconds, int64_t memory_bytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // died in between
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, 64);
  limit(RLIMIT_CPU, cpu_seconds);
  if (!kSanitized) limit(RLIMIT_AS, mapped_bytes() + memory_bytes);
}

#if defined(__x86_64__)
static constexpr uint32_t kAuditArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
static constexpr uint32_t kAuditArch = AUDIT_ARCH_AARCH64;
#elif defined(__arm__)
static constexpr uint32_t kAuditArch = AUDIT_ARCH_ARM;
#elif defined(__riscv)
static constexpr uint32_t kAuditArch = AUDIT_ARCH_RISCV64;
#else
#error "the sandbox does not know this ISA: name its number for system call filters"
#endif

static constexpr uint32_t kAllowedCalls[] = {
    SYS_futex,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_sched_yield,
    SYS_getrusage,
    SYS_write,
    SYS_exit,
    SYS_exit_group,
    SYS_brk,
    SYS_munmap,
    SYS_mprotect,
    SYS_madvise,
    SYS_mremap,
    SYS_rt_sigreturn,
    SYS_rt_sigprocmask,
    SYS_rt_sigaction,
    SYS_sigaltstack,
    SYS_getpid,
    SYS_gettid,
    SYS_restart_syscall,
    SYS_rseq,
    SYS_set_robust_list,
    SYS_getcpu,
    SYS_membarrier,
#ifdef SYS_mmap
    SYS_mmap,
#endif
#if defined(__arm__)
    SYS_mmap2,
    SYS_sigreturn,
    SYS_futex_time64,
    SYS_clock_gettime64,
    SYS_clock_nanosleep_time64,
    __ARM_NR_cacheflush,  // code that was loaded becomes visible to the core's instruction fetch
#elif defined(__riscv)
    __NR_riscv_flush_icache,  // the same
#endif
};

static sock_filter load(size_t offset) { return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<uint32_t>(offset)}; }
static sock_filter answer(uint32_t verdict) { return {BPF_RET | BPF_K, 0, 0, verdict}; }
/// The next instruction, or `otherwise` instructions further.
static sock_filter unless_equal(uint32_t value, size_t otherwise) {
  return {BPF_JMP | BPF_JEQ | BPF_K, 0, static_cast<uint8_t>(otherwise), value};
}

static constexpr size_t kFirstArgument =
    offsetof(seccomp_data, args);  // its low word: all of these ISAs are little-endian
static constexpr size_t kSecondArgument = kFirstArgument + sizeof(uint64_t);

static std::vector<sock_filter> call_filter() {
  std::vector<sock_filter> filter = {
      load(offsetof(seccomp_data, arch)),
      {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kAuditArch},
      answer(SECCOMP_RET_KILL_PROCESS),
      load(offsetof(seccomp_data, nr)),
  };
  auto append = [&](std::initializer_list<sock_filter> more) { filter.insert(filter.end(), more); };
  for (uint32_t call : kAllowedCalls) append({unless_equal(call, 1), answer(SECCOMP_RET_ALLOW)});
  // Its own priority, not that of others.
  append({unless_equal(SYS_setpriority, 6), load(kFirstArgument), unless_equal(PRIO_PGRP, 3), load(kSecondArgument),
          unless_equal(0, 1), answer(SECCOMP_RET_ALLOW), answer(SECCOMP_RET_KILL_PROCESS)});
  append(
      {unless_equal(SYS_sched_setscheduler, 3), load(kFirstArgument), unless_equal(0, 1), answer(SECCOMP_RET_ALLOW)});
  append({answer(SECCOMP_RET_KILL_PROCESS)});
  return filter;
}

bool forbid_system_calls() {
  if (kSanitized) return false;
  std::vector<sock_filter> filter = call_filter();
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  // SPEC_ALLOW: otherwise some kernels turn store forwarding off for filtered threads, which slows what is measured.
  constexpr unsigned kFlags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kFlags, &program) == 0;
}

}  // namespace farm
