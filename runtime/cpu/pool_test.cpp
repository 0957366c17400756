#include "runtime/cpu/pool.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "testing.h"

using Pool = std::unique_ptr<farm_pool, decltype(&farm_pool_destroy)>;

static Pool make_pool(int threads) {
  farm_pool_options options{threads, nullptr, nullptr, nullptr};
  return Pool(farm_pool_create(&options), farm_pool_destroy);
}

/// Counts how often each index is visited and by how many workers.
struct Visits {
  std::vector<std::atomic<int>> counts;
  std::atomic<uint32_t> workers{0};
  explicit Visits(size_t n) : counts(n) {}

  static void body(void* closure, int64_t begin, int64_t end, int32_t worker) {
    auto& visits = *static_cast<Visits*>(closure);
    visits.workers |= 1u << worker;
    for (int64_t i = begin; i < end; ++i) ++visits.counts[static_cast<size_t>(i)];
  }
  bool each_once() const {
    for (auto& count : counts)
      if (count != 1) return false;
    return true;
  }
};

static bool visits_each_once(farm_call_context* context, int64_t count) {
  Visits visits(static_cast<size_t>(count));
  context->parallel_for(context, count, Visits::body, &visits);
  return visits.each_once();
}

TEST_CASE("a parallel loop visits every index once, whatever the counts of threads and indices") {
  for (int threads : {1, 2, 3, 7}) {
    Pool pool = make_pool(threads);
    for (int64_t count : {0, 1, 2, 3, 6, 7, 8, 100}) CHECK(visits_each_once(farm_pool_context(pool.get()), count));
  }
}

TEST_CASE("every worker takes part, and the caller is worker 0") {
  Pool pool = make_pool(3);
  Visits visits(3);
  auto* context = farm_pool_context(pool.get());
  context->parallel_for(context, 3, Visits::body, &visits);
  CHECK(visits.workers == 0b111u);
}

TEST_CASE("many loops in a row, hot and after a pause, all complete") {
  Pool pool = make_pool(2);
  int good = 0;
  for (int round = 0; round < 2000; ++round) {
    if (round % 400 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // workers fall asleep
    good += visits_each_once(farm_pool_context(pool.get()), 5);
  }
  CHECK(good == 2000);
}

TEST_CASE("a loop inside a loop runs on the thread that it is in") {
  Pool pool = make_pool(2);
  auto* context = farm_pool_context(pool.get());
  std::atomic<int> good{0};
  std::pair<farm_call_context*, std::atomic<int>*> closure{context, &good};
  auto outer = [](void* data, int64_t begin, int64_t end, int32_t) {
    auto& [inner_context, count] = *static_cast<decltype(closure)*>(data);
    for (int64_t i = begin; i < end; ++i) *count += visits_each_once(inner_context, 10);
  };
  context->parallel_for(context, 8, outer, &closure);
  CHECK(good == 8);
}

TEST_CASE("several threads that share a pool all get whole loops") {
  Pool pool = make_pool(2);
  std::atomic<int> good{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) good += visits_each_once(farm_pool_context(pool.get()), 9);
    });
  threads.clear();
  CHECK(good == 2000);
}

TEST_CASE("a forked child runs its loops alone instead of waiting for threads that it does not have") {
  Pool pool = make_pool(2);
  auto* context = farm_pool_context(pool.get());
  CHECK(visits_each_once(context, 4));
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    bool good = visits_each_once(context, 4) && visits_each_once(farm_pool_shared(2), 4);
    farm_pool_destroy(pool.release());
    _exit(good ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(visits_each_once(context, 4));
}

TEST_CASE("the shared pool is the same for all callers") {
  auto* context = farm_pool_shared(2);
  CHECK(farm_pool_shared(2) == context);
  CHECK(visits_each_once(context, 10));
}

TEST_CASE("workers are pinned to their cores and set up before the first loop") {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  std::vector<int32_t> cores;
  for (int core = 0; core < CPU_SETSIZE && cores.size() < 2; ++core)
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  if (cores.size() < 2) return;  // one core: nothing to pin apart
  std::atomic<int> set_up{0};
  farm_pool_options options{2, cores.data(), [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &set_up};
  Pool pool(farm_pool_create(&options), farm_pool_destroy);
  std::atomic<int> core_of_worker{-1};
  auto body = [](void* closure, int64_t, int64_t, int32_t worker) {
    if (worker == 1) *static_cast<std::atomic<int>*>(closure) = sched_getcpu();
  };
  auto* context = farm_pool_context(pool.get());
  context->parallel_for(context, 2, body, &core_of_worker);
  CHECK(core_of_worker == cores[1]);
  CHECK(set_up == 1);
}
