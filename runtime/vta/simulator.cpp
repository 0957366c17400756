#include "runtime/vta/simulator.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "runtime/vta/datapath.h"
#include "target/vta.h"

namespace farm::vta {

double RunReport::gemm_utilisation() const {
  if (cycles == 0) return 0;
  return static_cast<double>(multiply_adds) /
         (static_cast<double>(cycles) * static_cast<double>(kVtaBlock * kVtaBlock));
}

namespace {

constexpr Engine kAll[] = {Engine::Load, Engine::Compute, Engine::Store};

struct Token {
  int64_t time = 0;
  KnownDone known{};
};

struct Module {
  std::vector<size_t> code;     ///< its instructions, by their place in the program
  std::vector<int64_t> starts;  ///< of those that have started
  int64_t free_at = 0;
  size_t next() const { return starts.size(); }
  bool done() const { return next() == code.size(); }
};

/// Beats of `bytes` in rows of their own; a row never shares a beat with another.
int64_t beats(int64_t rows, int64_t row_bytes, const Timing& timing) {
  return rows * ((row_bytes + timing.dram_bytes_per_cycle - 1) / timing.dram_bytes_per_cycle);
}

class Simulation {
 public:
  Simulation(const Program& program, const std::vector<std::span<const std::byte>>& read, std::span<std::byte> output,
             const RunOptions& options)
      : program_(program),
        options_(options),
        timing_(options.timing),
        races_(options.find_races ? std::make_unique<RaceFinder>() : nullptr),
        datapath_(program, read, output, options.compute, races_.get()),
        fetched_(program.instructions.size()) {
    for (size_t i = 0; i < program.instructions.size(); ++i) {
      Module& module = of(engine_of(program.instructions[i]));
      places_.push_back(module.code.size());
      module.code.push_back(i);
    }
  }

  RunReport run() {
    while (report_.outcome == Outcome::Ok) {
      fetch();
      auto next = earliest();
      if (!next) break;
      execute(*next);
    }
    judge_end();
    for (const Module& module : modules_) report_.cycles = std::max(report_.cycles, module.free_at);
    return std::move(report_);
  }

 private:
  Module& of(Engine engine) { return modules_[static_cast<size_t>(engine)]; }
  std::deque<Token>& queue(Engine from, Engine to) {
    return tokens_[static_cast<size_t>(from)][static_cast<size_t>(to)];
  }
  static Engine neighbour(Engine engine, int step) { return static_cast<Engine>(static_cast<int>(engine) + step); }
  const Instruction& next_of(Engine engine) { return program_.instructions[of(engine).code[of(engine).next()]]; }

  void fault(Fault found) {
    report_.outcome = found.outcome;
    report_.detail = std::move(found.detail);
  }

  /// Instructions reach their modules in the program's order; a full queue holds up all that follow.
  void fetch() {
    while (next_fetch_ < program_.instructions.size()) {
      Module& module = of(engine_of(program_.instructions[next_fetch_]));
      auto room_behind = static_cast<int64_t>(places_[next_fetch_]) - timing_.queue_instructions;
      if (room_behind >= static_cast<int64_t>(module.starts.size())) return;
      int64_t room = room_behind < 0 ? 0 : module.starts[static_cast<size_t>(room_behind)];
      fetch_time_ = std::max(fetch_time_ + timing_.fetch_cycles, room);
      fetched_[next_fetch_++] = timing_.dram_latency_cycles + fetch_time_;
    }
  }

  /// The tokens that the next instruction of a module waits for, and of whom.
  std::vector<Engine> wanted(Engine engine) {
    const Tokens& tokens = next_of(engine).tokens;
    std::vector<Engine> from;
    if (tokens.pop_prev) from.push_back(neighbour(engine, -1));
    if (tokens.pop_next) from.push_back(neighbour(engine, 1));
    return from;
  }

  std::optional<int64_t> start_of(Engine engine) {
    Module& module = of(engine);
    if (module.done() || module.code[module.next()] >= next_fetch_) return std::nullopt;
    int64_t start = std::max(module.free_at, fetched_[module.code[module.next()]]);
    for (Engine from : wanted(engine)) {
      const auto& waiting = queue(from, engine);
      if (waiting.empty()) return std::nullopt;
      start = std::max(start, waiting.front().time);
    }
    return start;
  }

  /// Whoever starts later cannot change what happens before: the order of starts is the order of effects.
  std::optional<Engine> earliest() {
    std::optional<Engine> first;
    int64_t best = 0;
    for (Engine engine : kAll) {
      auto start = start_of(engine);
      if (!start || (first && *start >= best)) continue;
      first = engine;
      best = *start;
    }
    return first;
  }

  void execute(Engine engine) {
    Module& module = of(engine);
    const Instruction& instruction = next_of(engine);
    int64_t start = *start_of(engine);
    if (races_) races_->begin(engine);
    for (Engine from : wanted(engine)) pop(from, engine);
    int64_t end = end_of(instruction, start);
    if (end > options_.most_cycles)
      return fault({Outcome::Timeout, place(engine) + detail::concat(" would end in cycle ", end, "; the limit is ",
                                                                     options_.most_cycles)});
    if (auto found = datapath_.execute(instruction))
      return fault({found->outcome, place(engine) + ": " + found->detail});
    if (races_ && races_->race()) return fault({Outcome::WrongResult, "race: " + *races_->race()});
    if (std::holds_alternative<Finish>(instruction.body)) check_finish(start);
    module.starts.push_back(start);
    module.free_at = end;
    report_.busy_cycles[static_cast<size_t>(engine)] += end - start;
    ++report_.instructions;
    if (instruction.tokens.push_prev) push(engine, neighbour(engine, -1), end);
    if (instruction.tokens.push_next) push(engine, neighbour(engine, 1), end);
  }

  void pop(Engine from, Engine to) {
    if (races_) races_->pop(to, queue(from, to).front().known);
    queue(from, to).pop_front();
  }

  void push(Engine from, Engine to, int64_t time) {
    queue(from, to).push_back({time, races_ ? races_->push(from) : KnownDone{}});
  }

  // Time ------------------------------------------------------------------------------------------------------------

  int64_t end_of(const Instruction& instruction, int64_t start) {
    start += timing_.issue_cycles;
    if (const auto* load = std::get_if<Load>(&instruction.body)) return end_of_load(*load, start);
    if (const auto* store = std::get_if<Store>(&instruction.body)) return end_of_store(*store, start);
    if (const auto* gemm = std::get_if<Gemm>(&instruction.body)) return end_of_gemm(*gemm, start);
    if (const auto* alu = std::get_if<Alu>(&instruction.body))
      return start + turns(*alu) * (alu->use_immediate ? timing_.alu_immediate_cycles : timing_.alu_cycles);
    return start;
  }

  int64_t end_of_load(const Load& load, int64_t start) {
    int64_t end = start;
    if (load.read() > 0) {
      int64_t row_bytes = int64_t{load.x_size} * element_bytes(load.memory);
      end = std::max(start + timing_.dram_latency_cycles, read_channel_) + beats(load.y_size, row_bytes, timing_);
      read_channel_ = end;
      report_.bytes_read += load.y_size * row_bytes;
    }
    return end + (load.rows() * load.row() - load.read()) * timing_.padding_cycles;
  }

  int64_t end_of_store(const Store& store, int64_t start) {
    if (store.written() == 0) return start;
    int64_t row_bytes = int64_t{store.x_size} * element_bytes(Memory::Output);
    report_.bytes_written += store.y_size * row_bytes;
    return start + timing_.dram_latency_cycles + beats(store.y_size, row_bytes, timing_);
  }

  int64_t end_of_gemm(const Gemm& gemm, int64_t start) {
    int64_t cycles = turns(gemm) * timing_.gemm_cycles;
    if (!gemm.reset) {
      report_.gemm_cycles += cycles;
      report_.multiply_adds += turns(gemm) * kVtaBlock * kVtaBlock;
    }
    return start + cycles;
  }

  template <class Repeated>
  static int64_t turns(const Repeated& code) {
    return int64_t{code.uop_end - code.uop_begin} * code.iter_out * code.iter_in;
  }

  // What goes wrong -------------------------------------------------------------------------------------------------

  std::string place(Engine engine) {
    Module& module = of(engine);
    return detail::concat(to_string(engine), "'s instruction ", module.next(), " (", describe(next_of(engine)), ")");
  }

  /// The host reads the result as soon as it is told.
  void check_finish(int64_t time) {
    for (Engine engine : {Engine::Load, Engine::Store})
      if (!of(engine).done() || of(engine).free_at > time)
        return fault({Outcome::WrongResult, detail::concat("finish comes in cycle ", time, " while ", to_string(engine),
                                                           " still works; it must wait for its token")});
  }

  void judge_end() {
    if (report_.outcome != Outcome::Ok) return;
    std::vector<std::string> stuck;
    for (Engine engine : kAll)
      if (!of(engine).done()) stuck.push_back(place(engine) + why_it_waits(engine));
    if (!stuck.empty()) {
      std::string all;
      for (const auto& one : stuck) all += (all.empty() ? "" : ", ") + one;
      return fault({Outcome::Timeout, "deadlock: " + all});
    }
    for (Engine from : kAll)
      for (Engine to : kAll)
        if (size_t left = queue(from, to).size(); left > 0)
          return fault(
              {Outcome::LaunchFailed, detail::concat(left, " tokens of ", to_string(from), " for ", to_string(to),
                                                     " are left; the next run would start wrong")});
  }

  std::string why_it_waits(Engine engine) {
    if (of(engine).code[of(engine).next()] >= next_fetch_) return " waits behind a full queue";
    for (Engine from : wanted(engine))
      if (queue(from, engine).empty()) return " waits for a token of " + to_string(from);
    return "";
  }

  const Program& program_;
  const RunOptions& options_;
  const Timing& timing_;
  std::unique_ptr<RaceFinder> races_;
  Datapath datapath_;
  std::array<Module, kEngines> modules_;
  std::array<std::array<std::deque<Token>, kEngines>, kEngines> tokens_;
  std::vector<size_t> places_;    ///< of each instruction in its module's code
  std::vector<int64_t> fetched_;  ///< when it reached its module
  size_t next_fetch_ = 0;
  int64_t fetch_time_ = 0, read_channel_ = 0;
  RunReport report_;
};

/// A caller's mistake, told like a program's: both come from outside.
std::optional<Fault> check_operands(const Program& program, const std::vector<std::span<const std::byte>>& read,
                                    std::span<std::byte> output) {
  bool fits = read.size() == program.read_bytes.size() && static_cast<int64_t>(output.size()) == program.output_bytes;
  for (size_t i = 0; fits && i < read.size(); ++i) fits = static_cast<int64_t>(read[i].size()) == program.read_bytes[i];
  if (fits) return {};
  return Fault{Outcome::LaunchFailed, "the operands are not those that the program was made for"};
}

}  // namespace

RunReport run(const Program& program, const std::vector<std::span<const std::byte>>& read, std::span<std::byte> output,
              const RunOptions& options) {
  auto found = find_fault(program);
  if (!found && options.compute) found = check_operands(program, read, output);
  if (found) {
    RunReport report;
    report.outcome = found->outcome;
    report.detail = std::move(found->detail);
    return report;
  }
  return Simulation(program, read, output, options).run();
}

}  // namespace farm::vta
