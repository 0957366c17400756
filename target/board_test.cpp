#include "target/board.h"

#include <algorithm>
#include <cmath>

#include "target/board_json.h"
#include "target/tables.h"
#include "target/target.h"
#include "testing.h"

using namespace farm;

TEST_CASE("every known board is read, by name and in order") {
  auto boards = known_boards();
  REQUIRE(boards.size() >= 14);
  CHECK(std::ranges::is_sorted(boards, {}, &Board::name));
  for (const Board& board : boards) CHECK(find_board(board.name) == &board);
  CHECK(find_board("rk3398") == nullptr);
  CHECK(find_board("") == nullptr);
}

TEST_CASE("a known board has a title, an ISA level of its cores, and a source for every group of facts") {
  for (const Board& board : known_boards()) {
    INFO(board.name);
    CHECK_FALSE(board.title.empty());
    CHECK(board.sources.size() >= 2);
    for (const BoardSource& source : board.sources) CHECK_FALSE((source.fact.empty() || source.source.empty()));
    CHECK(board.clusters.empty() == board.isa.empty());
    CHECK((board.isa.empty() || find_level(board.isa) != nullptr));
    CHECK((!board.clusters.empty() || board.gpu));  // something to run on
  }
}

TEST_CASE("a cluster's CPU is one that kernels are compiled for, with the same vectors, level and l1") {
  for (const Board& board : known_boards())
    for (const Cluster& cluster : board.clusters) {
      INFO(board.name << " " << cluster.name);
      auto cpu = target_from_name(cluster.cpu);
      REQUIRE(cpu);
      CHECK(cpu->cpu == cluster.cpu);
      CHECK(cpu->isa == board.isa);
      CHECK(cpu->vector_bits == cluster.vector_bits);
      CHECK(cpu->l1_bytes == cluster.l1_bytes);
    }
}

TEST_CASE("a board's clusters are named once each, fastest first, and have plausible figures") {
  const std::vector<std::string> names{"big", "mid", "little"};
  for (const Board& board : known_boards()) {
    double faster = 1000;
    auto name = names.begin();
    for (const Cluster& cluster : board.clusters) {
      INFO(board.name << " " << cluster.name);
      name = std::find(name, names.end(), cluster.name);
      REQUIRE(name != names.end());
      ++name;
      double core = cluster.peak_gflops() / cluster.cores;
      CHECK(core > 1);
      CHECK(core < faster);
      faster = core;
      CHECK(cluster.cores >= 1);
      CHECK(cluster.l2_bytes > cluster.l1_bytes);
      CHECK(cluster.flops_per_cycle >= 2);
      CHECK(cluster.flops_per_cycle <= 8.0 * cluster.vector_bits / 32);  // at most four multiply-add units
    }
    if (!board.clusters.empty()) CHECK(board.clusters.front().name == "big");
  }
}

TEST_CASE("machine balance is that of a machine: between 1 and 100 flops a byte") {
  for (const Board& board : known_boards()) {
    INFO(board.name);
    bool card = board.clusters.empty();
    double gflops = card ? 1e3 * board.gpu->fp32_tflops : board.peak_gflops();
    double bandwidth = card ? board.gpu->bandwidth_gb_s : board.bandwidth_gb_s;
    CHECK(gflops / bandwidth > 1);
    CHECK(gflops / bandwidth < 100);
    CHECK((card ? board.gpu->memory_bytes : board.memory_bytes) >= 512 << 20);
  }
}

TEST_CASE("a card's peak is what its units do at its clock, and its limits are whole") {
  for (const Board& board : known_boards()) {
    if (!board.gpu || !board.gpu->isa.starts_with("sm_")) continue;
    INFO(board.name);
    const BoardGpu& gpu = *board.gpu;
    double lanes = 1e3 * gpu.fp32_tflops / (gpu.compute_units * gpu.clock_ghz * 2);
    CHECK((std::abs(lanes - 128) < 1.3 || std::abs(lanes - 64) < 0.7));
    CHECK(gpu.shared_bytes_per_block <= gpu.shared_bytes_per_unit);
    CHECK(gpu.shared_bytes_per_block >= 48 << 10);
    CHECK(gpu.registers_per_unit == 65536);
    CHECK(gpu.warp_width == 32);
  }
}

TEST_CASE("the RK3399 has two clusters and a peak that is their sum") {
  const Board* board = find_board("rk3399");
  REQUIRE(board);
  REQUIRE(board->clusters.size() == 2);
  CHECK(board->clusters[0].cpu == "cortex-a72");
  CHECK(board->clusters[0].peak_gflops() == Approx(28.8));
  CHECK(board->clusters[1].cores == 4);
  CHECK(board->peak_gflops() == Approx(28.8 + 45.312));
  CHECK(board->gpu->model == "Mali-T860 MP4");
}

TEST_CASE("every program knows the kinds of boards, without their files") {
  auto kinds = board_kinds();
  auto boards = known_boards();
  REQUIRE(kinds.size() == boards.size());
  for (size_t i = 0; i < kinds.size(); ++i) {
    CHECK(kinds[i].name == boards[i].name);
    CHECK(kinds[i].isa == boards[i].isa);
  }
}

TEST_CASE("a CPU may not be called like a known board of another family of ISAs") {
  auto check = [](const char* key, const char* target) {
    return check_key_kind("--key", key, *target_from_name(target));
  };
  auto refused = check("rk3399", "znver3");
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == Error{ErrorCode::InvalidArgument,
                                 "--key rk3399 means a known board of aarch64, and this device is x86-64-v3/znver3; "
                                 "choose another key such as my-rk3399"});
  CHECK_FALSE(check("pynq-z1", "cortex-a53"));
  CHECK_FALSE(check("rk3399", "riscv64+emulated"));
  CHECK(check("rk3399", "cortex-a72"));
  CHECK(check("rk3399", "aarch64+emulated"));
  CHECK(check("rk3399", "cortex-a76"));
  CHECK(check("my-rk3399", "znver3"));
  CHECK(check("local", "znver3"));
  CHECK(check("h200", "znver3"));  // a card's host
}

TEST_CASE("what is no CPU may be called like the board that it is on") {
  Target accelerator;
  accelerator.isa = "vta";
  CHECK(check_key_kind("--key", "pynq-z1", accelerator));
}

TEST_CASE("a board's file that is malformed is told by its fault") {
  auto message = [](std::string_view text) { return board_from_json(text).error().message; };
  CHECK(board_from_json(R"({"fact)").error().code == ErrorCode::Corrupt);
  CHECK(message("{}").find("key 'name' not found") != std::string::npos);
  CHECK(message("[]").starts_with("no board: "));

  const std::string good =
      R"({"name": "x", "title": "X", "isa": null, "clusters": [], "l3_bytes": null, "memory_bytes": 1,)"
      R"("bandwidth_gb_s": 1.5, "gpu": null, "accelerators": [], "fabric": null, "sources": [)"
      R"({"fact": "all", "source": "a page"}]})";
  auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  auto board = board_from_json(good);
  REQUIRE(board);
  CHECK(board->l3_bytes == 0);
  CHECK(board->bandwidth_gb_s == 1.5);
  CHECK(board->sources.size() == 1);
  CHECK(message(with(R"("memory_bytes": 1)", R"("memory_bytes": 1.5)")) ==
        "no board: 1.5 where a whole number is wanted");
  CHECK(message(with(R"("title": "X")", R"("title": 7)")).find("must be string") != std::string::npos);
  CHECK(message(with(R"("gpu": null)", R"("gpu": null, "gpus": 2)")).find("unknown field") != std::string::npos);
  CHECK(message(with(R"("source": "a page")", R"("page": "a page")")).find("'source' not found") != std::string::npos);
}
