// tuning_db query|best|export|import|merge|verify|devices: looks into a tuning database, moves records between files,
// and shows what is known of devices.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include "apps/best_records.h"
#include "apps/cli.h"
#include "apps/known_devices.h"
#include "apps/output_files.h"
#include "apps/record_table.h"
#include "apps/standard_output.h"
#include "apps/task_argument.h"
#include "base/log.h"
#include "base/text.h"
#include "target/target.h"
#include "tensor/tensor.h"
#include "tuning_db/tuning_db.h"

namespace farm {
namespace {

constexpr size_t kShownProblems = 20;  // further ones are only counted

struct Arguments {
  std::string db = "tuning.db";
  std::optional<std::string> task, shape, constant, target;
  std::optional<int> threads;
  size_t limit = SIZE_MAX;  // query
  bool json = false;
  std::string file;    // import, merge
  std::string device;  // devices
  std::string output;  // export
};

// What is asked for -------------------------------------------------------------------------------------------------

bool is_operator(const std::string& name) {
  auto names = op_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

Status choose_tasks(const Arguments& arguments, RecordFilter& filter) {
  if (!arguments.task && arguments.shape)
    return fail(ErrorCode::InvalidArgument, "--shape ", printable(*arguments.shape), " needs --task");
  if (arguments.constant && !arguments.shape)
    return fail(ErrorCode::InvalidArgument, "--constant ", printable(*arguments.constant), " needs --shape");
  if (!arguments.task) return {};
  if (is_operator(*arguments.task) && !arguments.shape) {  // every shape of it
    filter.op = arguments.task;
    return {};
  }
  FARM_TRY(auto shape, shape_with_constant(*arguments.task, arguments.shape, arguments.constant));
  FARM_TRY(Network network, tasks_from_argument(*arguments.task, shape));
  for (const Layer& layer : network.layers) filter.tasks.push_back(layer.task.text());
  return {};
}

Result<RecordFilter> make_filter(const Arguments& arguments) {
  RecordFilter filter;
  FARM_CHECK(choose_tasks(arguments, filter));
  filter.threads = arguments.threads;
  filter.target = arguments.target == "local" ? describe_host().text() : arguments.target;
  return filter;
}

// Answers -----------------------------------------------------------------------------------------------------------

std::string json_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(json_text(text));
  return "[" + join(quoted, ",") + "]";
}

void print_json(const std::vector<Record>& records, const std::vector<std::string>& damaged) {
  std::fputs("{\"records\":[", stdout);
  const char* separator = "\n";
  for (const Record& record : records) {
    std::fputs((separator + to_json_summary(record)).c_str(), stdout);
    separator = ",\n";
  }
  std::fputs(("],\n\"damaged\":" + json_list(damaged) + "}\n").c_str(), stdout);
}

void report_problems(const std::vector<std::string>& problems) {
  for (size_t i = 0; i < std::min(problems.size(), kShownProblems); ++i)
    std::fprintf(stderr, "tuning_db: %s\n", printable(problems[i]).c_str());
  if (problems.size() > kShownProblems)
    std::fprintf(stderr, "tuning_db: and %zu more\n", problems.size() - kShownProblems);
}

/// Nobody should have to guess why an answer is empty. Corrupt when there are records and none can be read.
Result<std::string> why_nothing(RecordStore& store, const std::string& path) {
  std::set<std::string> targets, ops;
  FARM_TRY(auto report, store.scan({}, [&](const Record& record) {
    targets.insert(printable(record.key.target));
    ops.insert(printable(record.key.task.substr(0, record.key.task.find('('))));
    return true;
  }));
  if (report.read != 0)
    return "no record matches; " + path + " holds " + std::to_string(report.read) + " records of " +
           join({ops.begin(), ops.end()}, ", ") + " for " + join({targets.begin(), targets.end()}, ", ") + "\n";
  if (report.damaged.empty()) return path + " holds no records\n";
  return fail(ErrorCode::Corrupt, "database ", path, " is damaged: none of its records can be read");
}

Status answer(const Arguments& arguments, RecordStore& store, const std::vector<Record>& records,
              const std::vector<std::string>& damaged) {
  report_problems(damaged);
  std::string text;
  if (records.empty()) {
    FARM_TRY(text, why_nothing(store, arguments.db));
  } else if (!arguments.json) {
    text = record_table(records);
  }
  if (arguments.json)
    print_json(records, damaged);
  else
    std::fputs(text.c_str(), stdout);
  return flush_output();
}

// Commands ----------------------------------------------------------------------------------------------------------

Status run_query(const Arguments& arguments) {
  FARM_TRY(RecordFilter filter, make_filter(arguments));
  FARM_TRY(auto store, open_store(arguments.db, OpenMode::ReadOnly));
  std::vector<Record> records;
  FARM_TRY(auto report, store->scan(filter, [&](const Record& record) {
    records.push_back(record);
    records.back().measurement.samples_ns = {};  // not shown, and most of the memory
    return records.size() < arguments.limit;
  }));
  return answer(arguments, *store, records, report.damaged);
}

/// A damaged record may have been the best one, so all that could match are looked at, not only those that win.
Status run_best(const Arguments& arguments) {
  FARM_TRY(RecordFilter filter, make_filter(arguments));
  filter.only_ok = true;
  FARM_TRY(auto store, open_store(arguments.db, OpenMode::ReadOnly));
  set_log_level(LogLevel::Error);  // the answer names what best() skips
  Notes notes;
  FARM_TRY(std::vector<Record> records, best_records(filter, {store.get(), arguments.db}, notes));
  FARM_TRY(auto report, store->scan(filter, [](const Record&) { return true; }));
  for (const std::string& note : notes) std::fprintf(stderr, "tuning_db: %s\n", note.c_str());
  return answer(arguments, *store, records, report.damaged);
}

Status export_to_file(RecordStore& store, const RecordFilter& filter, const Arguments& arguments) {
  FARM_CHECK(check_not_database("-o", arguments.output, arguments.db));
  FARM_TRY(PendingFile out, PendingFile::open(arguments.output));
  FARM_TRY(auto report,
           store.scan(filter, [&](const Record& record) { return out.write(to_json_line(record) + "\n"); }));
  report_problems(report.damaged);
  if (report.read == 0) FARM_CHECK(why_nothing(store, arguments.db));
  FARM_CHECK(out.commit());
  std::printf("exported %zu records to %s\n", report.read, printable(arguments.output).c_str());
  return flush_output();
}

Status export_to_output(RecordStore& store, const RecordFilter& filter, const Arguments& arguments) {
  FARM_TRY(auto report, store.scan(filter, [&](const Record& record) {
    std::string line = to_json_line(record) + "\n";
    return std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
  }));
  report_problems(report.damaged);
  if (report.read == 0) FARM_CHECK(why_nothing(store, arguments.db));
  return flush_output();
}

Status run_export(const Arguments& arguments) {
  FARM_TRY(RecordFilter filter, make_filter(arguments));
  FARM_TRY(auto store, open_store(arguments.db, OpenMode::ReadOnly));
  return arguments.output.empty() ? export_to_output(*store, filter, arguments)
                                  : export_to_file(*store, filter, arguments);
}

Status report_transfer(const Arguments& arguments, const char* done, const TransferReport& report) {
  if (arguments.json)
    std::printf("{\"read\":%zu,\"added\":%zu,\"bad\":%s}\n", report.read, report.added, json_list(report.bad).c_str());
  else
    std::printf("%s %zu records, %zu of them new\n", done, report.read, report.added);
  FARM_CHECK(flush_output());
  if (report.bad.empty()) return {};
  report_problems(report.bad);
  return fail(ErrorCode::Corrupt, report.bad.size(), " bad in ", arguments.file, "; everything else was taken");
}

/// The reason in the system's words.
Status open_lines(const std::string& path, std::ifstream& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return fail(ErrorCode::Unavailable, path, " is a folder; import takes a file of JSON lines");
  errno = 0;
  file.open(path);
  if (file) return {};
  if (errno == ENOENT) return fail(ErrorCode::NotFound, "no file ", path, " to import");
  return fail(ErrorCode::Unavailable, "file ", path, " cannot be read: ", std::strerror(errno));
}

Status run_import(const Arguments& arguments) {
  std::ifstream file;
  if (arguments.file != "-") FARM_CHECK(open_lines(arguments.file, file));
  FARM_TRY(auto store, open_store(arguments.db, OpenMode::ReadWrite));
  FARM_TRY(TransferReport report, import_lines(*store, arguments.file == "-" ? std::cin : file));
  return report_transfer(arguments, "imported", report);
}

Status run_merge(const Arguments& arguments) {
  FARM_TRY(auto from, open_store(arguments.file, OpenMode::ReadOnly));
  FARM_TRY(auto store, open_store(arguments.db, OpenMode::ReadWrite));
  FARM_TRY(TransferReport report, merge_store(*store, *from));
  return report_transfer(arguments, "merged", report);
}

Status run_verify(const Arguments& arguments) {
  FARM_TRY(auto store, open_store(arguments.db, OpenMode::ReadOnly));
  FARM_TRY(std::vector<std::string> problems, store->check_structure());
  FARM_TRY(auto report, store->scan({}, [](const Record&) { return true; }));
  problems.insert(problems.end(), report.damaged.begin(), report.damaged.end());
  if (arguments.json)
    std::printf("{\"records\":%zu,\"damaged\":%s}\n", report.read, json_list(problems).c_str());
  else
    std::printf("%zu records are whole\n", report.read);
  FARM_CHECK(flush_output());
  if (problems.empty()) return {};
  report_problems(problems);
  return fail(ErrorCode::Corrupt, "database ", arguments.db, " is damaged in ", problems.size(),
              problems.size() == 1 ? " place" : " places");
}

Status run_devices(const Arguments& arguments) {
  FARM_TRY(std::string text,
           arguments.json ? known_devices_json(arguments.device) : known_devices_table(arguments.device));
  return print(text);
}

// The command line --------------------------------------------------------------------------------------------------

using Command = Status (*)(const Arguments&);

void add_database(CLI::App& app, Arguments& arguments) {
  app.add_option("--db", arguments.db, "The database file [tuning.db]")->type_name("FILE");
}

CLI::App* add_command(CLI::App& app, Arguments& arguments, const char* name, const char* help) {
  CLI::App* command = app.add_subcommand(name, help);
  add_database(*command, arguments);
  return command;
}

void add_filters(CLI::App* command, Arguments& arguments) {
  command
      ->add_option(
          "--task", arguments.task,
          "An operator (every shape of it without --shape), a network, a layer, a task's text or a file of them")
      ->type_name("NAME");
  command->add_option("--shape", arguments.shape, "The operator's shape: k=v,k=v")->type_name("SHAPE");
  command->add_option("--constant", arguments.constant, "Of matmul, b: known beforehand")->type_name("OPERAND");
  command
      ->add_option("--target", arguments.target, "An ISA level, a CPU, both (x86-64-v3/znver3), a device key, or local")
      ->type_name("TARGET");
  in_range(command->add_option("--threads", arguments.threads, "Threads that were used"), 1, kMostThreads)
      ->type_name("INT");
}

void add_json(CLI::App* command, Arguments& arguments) {
  command->add_flag("--json", arguments.json, "One JSON document on standard output");
}

int run(int argc, const char* const* argv) {
  CLI::App app("Looks into a tuning database and moves records between files", "tuning_db");
  app.require_subcommand(1);
  Arguments arguments;
  add_database(app, arguments);  // before the command's name or behind it
  std::vector<std::pair<CLI::App*, Command>> commands;

  commands.emplace_back(add_command(app, arguments, "query", "List records; all of them without a filter"), run_query);
  in_range(commands.back().first->add_option("--limit", arguments.limit, "At most so many, the oldest ones"), 1,
           SIZE_MAX)
      ->type_name("INT");
  commands.emplace_back(add_command(app, arguments, "best", "List the fastest record of each task, target and threads"),
                        run_best);
  for (auto& [command, unused] : commands) {
    add_filters(command, arguments);
    add_json(command, arguments);
  }
  commands.emplace_back(add_command(app, arguments, "export", "Write records as JSON lines"), run_export);
  add_filters(commands.back().first, arguments);
  commands.back()
      .first->add_option("-o,--output", arguments.output, "Write here instead of standard output")
      ->type_name("FILE");
  commands.emplace_back(
      add_command(app, arguments, "import", "Add the records of a file of JSON lines; - is standard input"),
      run_import);
  commands.emplace_back(add_command(app, arguments, "merge", "Add the records of another database"), run_merge);
  for (size_t i = 3; i < commands.size(); ++i) {
    commands[i].first->add_option("FILE", arguments.file, "Where the records come from")->required();
    add_json(commands[i].first, arguments);
  }
  commands.emplace_back(add_command(app, arguments, "verify", "Check every record and the file's structure"),
                        run_verify);
  add_json(commands.back().first, arguments);
  commands.emplace_back(app.add_subcommand("devices", "Show known boards, phones and cards, or all of one"),
                        run_devices);
  commands.back().first->add_option("NAME", arguments.device, "The one to describe, e.g. rk3399");
  add_json(commands.back().first, arguments);

  if (auto code = parse_command_line(app, argc, argv)) return *code;
  for (auto& [command, body] : commands) {
    if (!command->parsed()) continue;
    auto status = body(arguments);
    return status ? 0 : report_error("tuning_db", status.error());
  }
  return 0;
}

}  // namespace
}  // namespace farm

int main(int argc, char** argv) { return farm::run(argc, argv); }
