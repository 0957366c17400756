#define _GNU_SOURCE
#include "runtime/cpu/pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* About 500 us, short against a time slice. To wake a thread costs 50 us and more on a virtual machine, so who sleeps
 * after 50 us is late for the next call, and late again: kernels of 0.1 ms then took 0.12 to 0.26 ms instead of 0.08 to
 * 0.11. */
enum { kSpins = 20000, kCacheLine = 64 };

#if defined(__x86_64__) || defined(__i386__)
#define spin_pause() __builtin_ia32_pause()
#elif defined(__aarch64__) || defined(__arm__)
#define spin_pause() __asm__ volatile("isb" ::: "memory") /* "yield" does nothing there, and ends the wait too soon */
#elif defined(__riscv)
#define spin_pause() __asm__ volatile(".insn i 0x0f, 0, x0, x0, 0x010" ::: "memory") /* "pause", a hint to all */
#else
#define spin_pause() __asm__ volatile("" ::: "memory")
#endif

struct worker {
  struct farm_pool *pool;
  int32_t index;
  pthread_t thread;
};

struct farm_pool {
  struct farm_call_context context;
  int32_t threads;  /* the caller included */
  int32_t started;  /* entries of `workers` that run */
  struct worker *workers;
  struct farm_pool_options options;
  volatile int32_t *alive; /* a page that reads 0 in forked children; null where the kernel has no such thing */
  pid_t owner;

  /* The loop that is running; written by the caller before `generation`, read by workers after it. */
  farm_parallel_body body;
  void *closure;
  int64_t count;
  bool stop;

  /* A line each, so that a spinning worker does not slow down who writes the others. */
  _Alignas(kCacheLine) atomic_uint generation; /* futex; rises by one a loop */
  _Alignas(kCacheLine) atomic_uint pending;    /* futex; workers that still run */
  _Alignas(kCacheLine) atomic_int sleepers;    /* workers that wait in the kernel */
  atomic_int caller_sleeps;            /* words, not bytes: on RISC-V a byte's exchange is a call of libatomic */
  _Alignas(kCacheLine) atomic_int busy; /* somebody's loop runs, or the pool has ended */
};

static void futex_wait(atomic_uint *word, unsigned expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}
static void futex_wake_all(atomic_uint *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 0x7fffffff, NULL, NULL, 0); }

static bool forked(const struct farm_pool *pool) { return pool->alive ? *pool->alive == 0 : getpid() != pool->owner; }

/* Workers -------------------------------------------------------------------------------------------------------- */

static int64_t range_begin(int64_t count, int32_t worker, int32_t threads) {
  int64_t share = count / threads, rest = count % threads;
  return share * worker + (worker < rest ? worker : rest);
}

static void run_range(struct farm_pool *pool, int32_t worker) {
  int64_t begin = range_begin(pool->count, worker, pool->threads);
  int64_t end = range_begin(pool->count, worker + 1, pool->threads);
  if (begin < end) pool->body(pool->closure, begin, end, worker);
}

/* Returns once `generation` is no longer `seen`. */
static unsigned wait_for_work(struct farm_pool *pool, unsigned seen) {
  for (int i = 0; i < kSpins; ++i) {
    unsigned now = atomic_load_explicit(&pool->generation, memory_order_acquire);
    if (now != seen) return now;
    spin_pause();
  }
  atomic_fetch_add(&pool->sleepers, 1);
  unsigned now;
  while ((now = atomic_load(&pool->generation)) == seen) futex_wait(&pool->generation, seen);
  atomic_fetch_sub(&pool->sleepers, 1);
  return now;
}

static void report_done(struct farm_pool *pool) {
  if (atomic_fetch_sub(&pool->pending, 1) == 1 && atomic_load(&pool->caller_sleeps)) futex_wake_all(&pool->pending);
}

static void pin_to(int32_t core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set); /* a core that went away: run anywhere rather than not at all */
}

static void *work(void *argument) {
  struct worker *self = argument;
  struct farm_pool *pool = self->pool;
  if (pool->options.cores) pin_to(pool->options.cores[self->index]);
  if (pool->options.setup) pool->options.setup(pool->options.setup_argument);
  for (unsigned seen = 0;;) {
    seen = wait_for_work(pool, seen);
    if (pool->stop) return NULL;
    run_range(pool, self->index);
    report_done(pool);
  }
}

/* The caller ----------------------------------------------------------------------------------------------------- */

static void start_workers_on(struct farm_pool *pool) {
  atomic_fetch_add(&pool->generation, 1);
  if (atomic_load(&pool->sleepers) > 0) futex_wake_all(&pool->generation);
}

static void wait_for_workers(struct farm_pool *pool) {
  for (int i = 0; i < kSpins; ++i) {
    if (atomic_load_explicit(&pool->pending, memory_order_acquire) == 0) return;
    spin_pause();
  }
  atomic_store(&pool->caller_sleeps, true);
  unsigned left;
  while ((left = atomic_load(&pool->pending)) != 0) futex_wait(&pool->pending, left);
  atomic_store(&pool->caller_sleeps, false);
}

static bool claim(struct farm_pool *pool) {
  int expected = false;
  return atomic_compare_exchange_strong_explicit(&pool->busy, &expected, true, memory_order_acquire,
                                                 memory_order_relaxed);
}

static void parallel_for(struct farm_call_context *context, int64_t count, farm_parallel_body body, void *closure) {
  struct farm_pool *pool = context->pool;
  if (count <= 0) return;
  if (count == 1 || !pool || pool->threads == 1 || forked(pool) || !claim(pool)) {
    body(closure, 0, count, 0);
    return;
  }
  pool->body = body;
  pool->closure = closure;
  pool->count = count;
  atomic_store_explicit(&pool->pending, (unsigned)pool->threads - 1, memory_order_relaxed);
  start_workers_on(pool);
  run_range(pool, 0);
  wait_for_workers(pool);
  atomic_store_explicit(&pool->busy, false, memory_order_release);
}

/* Life ----------------------------------------------------------------------------------------------------------- */

static void watch_for_forks(struct farm_pool *pool) {
  pool->owner = getpid();
#ifdef MADV_WIPEONFORK
  size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  /* An emulator that runs single programs says yes to any advice and follows none. */
  if (madvise(page, bytes, -1) == 0 || madvise(page, bytes, MADV_WIPEONFORK) != 0) {
    munmap(page, bytes);
    return;
  }
  pool->alive = page;
  *pool->alive = 1;
#endif
}

/* Signals are the application's: workers take none but those that a fault of their own raises. */
static void block_signals(sigset_t *before) {
  sigset_t all;
  sigfillset(&all);
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT, SIGTRAP};
  for (unsigned i = 0; i < sizeof faults / sizeof *faults; ++i) sigdelset(&all, faults[i]);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

static bool start_threads(struct farm_pool *pool) {
  sigset_t before;
  block_signals(&before);
  for (int32_t i = 1; i < pool->threads; ++i) {
    struct worker *worker = &pool->workers[i - 1];
    worker->pool = pool;
    worker->index = i;
    if (pthread_create(&worker->thread, NULL, work, worker) != 0) break;
    ++pool->started;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return pool->started == pool->threads - 1;
}

static void end_threads(struct farm_pool *pool) {
  if (forked(pool)) return; /* they live in another process */
  pool->stop = true;
  start_workers_on(pool);
  for (int32_t i = 0; i < pool->started; ++i) pthread_join(pool->workers[i].thread, NULL);
}

static void close_pool(struct farm_pool *pool) {
  end_threads(pool);
  if (pool->alive) munmap((void *)pool->alive, (size_t)sysconf(_SC_PAGESIZE));
  pool->alive = NULL;
  free(pool->workers);
  pool->workers = NULL;
}

static bool open_pool(struct farm_pool *pool, const struct farm_pool_options *options) {
  pool->context.parallel_for = parallel_for;
  pool->context.pool = pool;
  pool->options = *options;
  pool->threads = options->threads < 1 ? 1 : options->threads;
  pool->workers = calloc((size_t)pool->threads, sizeof *pool->workers);
  if (!pool->workers) return false;
  watch_for_forks(pool);
  if (start_threads(pool)) return true;
  close_pool(pool);
  return false;
}

struct farm_pool *farm_pool_create(const struct farm_pool_options *options) {
  struct farm_pool *pool = aligned_alloc(kCacheLine, sizeof *pool);
  if (!pool) return NULL;
  *pool = (struct farm_pool){0};
  if (open_pool(pool, options)) return pool;
  free(pool);
  return NULL;
}

void farm_pool_destroy(struct farm_pool *pool) {
  if (!pool) return;
  close_pool(pool);
  free(pool);
}

struct farm_call_context *farm_pool_context(struct farm_pool *pool) { return &pool->context; }

/* The shared pool lies in static memory that is never freed: a thread that still holds the context while the process
 * ends finds the pool busy and runs alone. */
enum { kUnmade, kBeingMade, kMade, kEnded };
static atomic_int shared_state = kUnmade;
static struct farm_pool shared;
static struct farm_call_context alone = {parallel_for, NULL};

static void make_shared(int32_t threads) {
  struct farm_pool_options options = {threads, NULL, NULL, NULL};
  bool made = open_pool(&shared, &options);
  atomic_store_explicit(&shared_state, made ? kMade : kEnded, memory_order_release);
}

struct farm_call_context *farm_pool_shared(int32_t threads) {
  int state = atomic_load_explicit(&shared_state, memory_order_acquire);
  if (state == kMade) return &shared.context;
  if (threads > 1 && state == kUnmade && atomic_compare_exchange_strong(&shared_state, &state, kBeingMade)) {
    make_shared(threads);
    return farm_pool_shared(threads);
  }
  return &alone; /* one thread, or another thread is making the pool just now, or it cannot be made */
}

__attribute__((destructor)) static void end_shared(void) {
  if (atomic_load(&shared_state) != kMade || forked(&shared)) return;
  if (!claim(&shared)) return; /* somebody computes while the process ends: leave him the pool */
  end_threads(&shared);
}
