#include "tuning_db/ties.h"

#include "tuning_db/test_records.h"

namespace farm {
namespace {

/// A final with an interval of one per cent to either side.
Record final_of(const std::string& candidate, double latency_ns, const std::string& run = "run-7") {
  Record record = make_record(1, latency_ns);
  record.candidate = candidate;
  record.role = Role::Final;
  record.run_id = run;
  return record;
}

Record default_of(const std::string& candidate) {
  Record record = make_record(1, 5000);
  record.candidate = candidate;
  record.role = Role::Default;
  return record;
}

std::string best_of(const std::vector<Record>& records) {
  TempFolder folder;
  auto store = open_for_test(folder.file("t.db"));
  REQUIRE(store->append(records));
  auto best = store->best({});
  REQUIRE(best);
  REQUIRE(best->size() == 1);
  return best->front().candidate;
}

}  // namespace

TEST_CASE("finals of one run tie when their intervals overlap, others never") {
  Record fastest = final_of("a{x=1}", 1000);
  CHECK(is_tie(fastest, final_of("a{x=2}", 1019)));
  CHECK(is_tie(final_of("a{x=2}", 1019), fastest));
  CHECK_FALSE(is_tie(fastest, final_of("a{x=2}", 1021)));
  CHECK_FALSE(is_tie(fastest, final_of("a{x=2}", 1000, "run-8")));
  CHECK_FALSE(is_tie(fastest, default_of("a{x=2}")));
}

TEST_CASE("the fewer decisions differ from the default schedule, the simpler a candidate is") {
  CHECK(distance_from_default("a{x=1,y=2}", "a{x=1,y=2}") == 0);
  CHECK(distance_from_default("a{x=1,y=4}", "a{x=1,y=2}") == 1);
  CHECK(distance_from_default("a{x=2,y=4}", "a{x=1,y=2}") == 2);
  CHECK(distance_from_default("b{x=1,y=2}", "a{x=1,y=2}") == 3);
  CHECK(distance_from_default("a{x=1,y=2}", "") == 10);
}

TEST_CASE("of finals that tie with the fastest, the one nearest to the default schedule is best") {
  const Record fallback = default_of("a{x=1,y=2,z=3}");
  const Record far = final_of("a{x=8,y=8,z=3}", 1000), near = final_of("a{x=16,y=2,z=3}", 1010);
  CHECK(best_of({fallback, far, near}) == near.candidate);
  CHECK(best_of({fallback, near, far, final_of(fallback.candidate, 1015)}) == fallback.candidate);
}

TEST_CASE("what is simpler and surely slower, or of another run, does not win") {
  const Record fallback = default_of("a{x=1,y=2,z=3}");
  const Record fastest = final_of("a{x=8,y=8,z=3}", 1000), tie = final_of("a{x=4,y=2,z=8}", 1010);
  CHECK(best_of({fallback, fastest, final_of(fallback.candidate, 1030)}) == fastest.candidate);
  CHECK(best_of({fallback, fastest, final_of(fallback.candidate, 1005, "run-8")}) == fastest.candidate);
  // It ties with another tie, which is not enough.
  CHECK(best_of({fallback, fastest, tie, final_of(fallback.candidate, 1025)}) == tie.candidate);
}

TEST_CASE("without a default schedule in the database the shortest text wins a tie") {
  CHECK(best_of({final_of("a{x=16,y=16}", 1000), final_of("a{x=4,y=8}", 1010), final_of("a{x=4,y=4}", 1010)}) ==
        "a{x=4,y=4}");
}

}  // namespace farm
