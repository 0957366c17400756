#include "runtime/cpu/fault_report.h"

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>

namespace farm {

// A signal handler finds its data only in globals; there is one job in the life of a child.
static ChildReport* the_report = nullptr;
static std::vector<const GuardedBuffer*> the_buffers;

void watch_buffers(std::vector<const GuardedBuffer*> buffers) { the_buffers = std::move(buffers); }

static void report_and_exit(int signal, siginfo_t* info, void*) {
  while (!__sync_bool_compare_and_swap(const_cast<int32_t*>(&the_report->signal), 0, signal)) {
    // Another thread was first and is about to end the process.
  }
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  the_report->address = address;
  if (signal == SIGSEGV || signal == SIGBUS)
    for (const auto* buffer : the_buffers)
      if (buffer->where(address, the_report->where)) the_report->out_of_bounds = 1;
  _exit(128 + signal);
}

void report_faults_to(ChildReport& report) {
  the_report = &report;
  struct sigaction action{};
  action.sa_sigaction = report_and_exit;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT}) sigaction(signal, &action, nullptr);
}

void use_fault_stack() {
  constexpr size_t kBytes = 64 << 10;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kBytes;
  sigaltstack(&stack, nullptr);
}

}  // namespace farm
