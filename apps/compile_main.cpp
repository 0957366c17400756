// compile: writes a C library and its header from the best schedule that is known.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "apps/cli.h"
#include "apps/compile_choice.h"
#include "apps/compile_place.h"
#include "apps/output_files.h"
#include "apps/standard_output.h"
#include "apps/task_argument.h"
#include "base/text.h"
#include "codegen/codegen.h"

namespace farm {
namespace {

struct Arguments {
  std::string task;
  std::optional<std::string> shape, constant, db, show;
  std::string target = "local";
  std::optional<int> threads;
  Places places;
  bool json = false;
};

/// Everything that the command line decides. What is given is checked before what is missing is asked for.
struct Job {
  Network network;
  Records records;
  TargetChoice target;
  int threads = 1;
};

// What to compile ---------------------------------------------------------------------------------------------------

/// A bare operator takes its default shape; nobody should have to guess which.
void note_default_shape(const Arguments& arguments, const Network& network, Notes& notes) {
  std::vector<std::string> ops = op_names();
  if (arguments.shape || std::find(ops.begin(), ops.end(), arguments.task) == ops.end()) return;
  notes.push_back("no --shape, so " + network.layers.front().task.text() + ": " + *default_title(arguments.task));
}

int choose_threads(const Arguments& arguments, const TargetChoice& target, Notes& notes) {
  if (!arguments.threads && !target.cores_known)
    notes.push_back("how many cores a " + target.target.text() +
                    " has is not known, so the code is for 1 thread; --threads N changes it");
  return arguments.threads.value_or(target.cores);
}

// One layer ---------------------------------------------------------------------------------------------------------

Result<LibraryOptions> library_options(const CompiledLayer& layer) {
  FARM_TRY(TaskSignature shape, signature(layer.task));
  LibraryOptions options{layer.name, layer.threads, {}, header_comment(layer)};
  options.shapes[shape.output.name] = shape.output.type.shape;
  for (const TaskTensor& input : shape.inputs) {
    options.operands.push_back(input.name);
    options.shapes[input.name] = input.type.shape;
  }
  return options;
}

Result<Library> build(const CompiledLayer& layer) {
  FARM_TRY(LibraryOptions options, library_options(layer));
  return build_library(layer.choice.program.lowered, layer.choice.target, options);
}

std::string prototype_in(const std::string& header, const std::string& name) {
  size_t begin = header.find("\nint " + name + "(");
  return begin == std::string::npos ? "" : header.substr(begin + 1, header.find('\n', begin + 1) - begin - 1);
}

/// A schedule that worked when it was measured may be refused by this version: the default one then, aloud.
Result<Library> build_or_fall_back(CompiledLayer& layer, const Target& target, Notes& notes) {
  auto library = build(layer);
  if (!library && library.error().code == ErrorCode::NoCandidate && layer.choice.record) {
    notes.push_back("the recorded schedule cannot be compiled, so the default one is taken: " +
                    library.error().message);
    FARM_TRY(layer.choice, default_schedule(layer.task, target, layer.threads));
    library = build(layer);
  }
  return library;
}

Status compile_layer(CompiledLayer& layer, const Job& job, Notes& notes) {
  const Target& target = job.target.target;
  FARM_TRY(layer.choice, choose_schedule(layer.task, target, layer.threads, job.records, notes));
  FARM_TRY(Library library, build_or_fall_back(layer, target, notes));
  if (job.network.layers.size() > 1) FARM_CHECK(make_folder(layer));
  layer.prototype = prototype_in(library.header, layer.name);
  return write_files(
      {{layer.library_path, library.shared_object}, {layer.header_path, std::as_bytes(std::span(library.header))}});
}

/// Nothing that a person asks for may cost them their records.
Status check_places(const std::vector<CompiledLayer>& layers, const Records& records) {
  for (const CompiledLayer& layer : layers) {
    FARM_CHECK(check_not_database("-o", layer.library_path, records.path));
    FARM_CHECK(check_not_database("--header", layer.header_path, records.path));
  }
  return {};
}

// The program -------------------------------------------------------------------------------------------------------

/// One task's reason; of a network the names of the layers would fill a page that its table shows anyway.
Status note_missing(const Job& job, const std::vector<CompiledLayer>& layers, Notes& notes) {
  auto missing = std::count_if(layers.begin(), layers.end(), [](const auto& layer) { return layer.choice.missing; });
  if (missing == 0) return {};
  if (layers.size() == 1) {
    FARM_TRY(notes.emplace_back(), missing_note(layers[0].task, job.target.target, job.threads, job.records));
    return {};
  }
  notes.push_back(job.records.path + " has no record of " + std::to_string(missing) + " of " +
                  std::to_string(layers.size()) + " layers for " + job.target.target.text() + " with --threads " +
                  std::to_string(job.threads) + ", so these take the default schedule");
  return {};
}

void say(Notes& notes) {
  for (const std::string& note : notes) std::fprintf(stderr, "compile: %s\n", note.c_str());
  notes.clear();
}

/// For people who want to see the code: nothing is written.
Result<std::string> listing(const ScheduleChoice& choice, const std::string& what, int threads) {
  if (what == "nest") return to_string(choice.program.lowered);
  FARM_TRY(Listing code, list_code(choice.program.lowered, choice.target, threads));
  return what == "ir" ? code.ir : code.assembly;
}

Status check_show(const Arguments& arguments) {
  if (!arguments.show) return {};
  const std::vector<std::string> words{"nest", "ir", "asm"};
  if (std::find(words.begin(), words.end(), *arguments.show) == words.end())
    return fail(ErrorCode::InvalidArgument, "--show is '", printable(*arguments.show), "'; it must be nest, ir or asm",
                did_you_mean(*arguments.show, words));
  if (arguments.json) return fail(ErrorCode::InvalidArgument, "--show prints code, which is no JSON; leave --json out");
  return {};
}

Result<Job> read_job(const Arguments& arguments, Notes& notes) {
  Job job;
  FARM_CHECK(check_library_name(arguments.places.name));
  FARM_CHECK(check_show(arguments));
  if (!arguments.task.empty()) {
    FARM_TRY(auto shape, shape_with_constant(arguments.task, arguments.shape, arguments.constant));
    FARM_TRY(job.network, tasks_from_argument(arguments.task, shape));
  }
  FARM_TRY(job.records, open_records(arguments.db, notes));
  FARM_TRY(job.target, choose_target(arguments.target, job.records.source()));
  job.threads = choose_threads(arguments, job.target, notes);
  if (arguments.task.empty())
    return fail(ErrorCode::InvalidArgument, "--task is missing; try --task conv2d, or tune --list for all there are");
  note_default_shape(arguments, job.network, notes);
  return job;
}

Status show(const Arguments& arguments, const Job& job, Notes& notes) {
  for (const Layer& layer : job.network.layers) {
    FARM_TRY(ScheduleChoice choice, choose_schedule(layer.task, job.target.target, job.threads, job.records, notes));
    if (choice.missing) {
      FARM_TRY(notes.emplace_back(), missing_note(layer.task, job.target.target, job.threads, job.records));
    }
    say(notes);
    FARM_TRY(std::string text, listing(choice, *arguments.show, job.threads));
    FARM_CHECK(print(text));
  }
  return {};
}

Status compile(const Arguments& arguments, Notes& notes) {
  FARM_TRY(Job job, read_job(arguments, notes));
  if (arguments.show) return show(arguments, job, notes);
  const Network& network = job.network;
  FARM_TRY(std::vector<CompiledLayer> layers, place_layers(arguments.places, network, job.threads));
  FARM_CHECK(check_places(layers, job.records));
  for (CompiledLayer& layer : layers) {
    FARM_CHECK(compile_layer(layer, job, notes));
    say(notes);
  }
  FARM_CHECK(note_missing(job, layers, notes));
  say(notes);
  bool one = network.layers.size() == 1;
  if (arguments.json) return print(one ? compile_json(layers[0]) : compile_json(network.name, layers));
  return print(one ? compile_text(layers[0]) : compile_table(layers));
}

int run(int argc, const char* const* argv) {
  Arguments arguments;
  CLI::App app("Writes a C library and its header from the best schedule that is known", "compile");
  app.add_option("--task", arguments.task,
                 "An operator, a network, one of its layers, a task's text, or a file of them")
      ->type_name("NAME");
  app.add_option("--shape", arguments.shape, "The operator's shape: k=v,k=v [its default shape]")->type_name("SHAPE");
  app.add_option("--constant", arguments.constant, "Of matmul, b: known beforehand, given to NAME_prepack")
      ->type_name("OPERAND");
  app.add_option("--target", arguments.target,
                 "local, an ISA level, a CPU, or the key of a device with records [local]")
      ->type_name("TARGET");
  in_range(app.add_option("--threads", arguments.threads, "Threads of one call [all cores of the target]"), 1,
           kMostThreads)
      ->type_name("INT");
  app.add_option("--db", arguments.db, "The database to take records from [tuning.db]")->type_name("FILE");
  app.add_option("--name", arguments.places.name, "What the C functions are called [the task's name]")
      ->type_name("NAME");
  app.add_option("-o,--output", arguments.places.output, "The library; for a network a folder [NAME.so]")
      ->type_name("FILE");
  app.add_option("--header", arguments.places.header, "The C header [beside the library]")->type_name("FILE");
  app.add_option("--show", arguments.show, "Print the code and write nothing: nest, ir or asm")->type_name("WHAT");
  app.add_flag("--json", arguments.json, "One JSON document on standard output");
  if (auto code = parse_command_line(app, argc, argv)) return *code;
  Notes notes;
  auto status = compile(arguments, notes);
  if (status) return 0;
  return report_error("compile", status.error());
}

}  // namespace
}  // namespace farm

int main(int argc, char** argv) { return farm::run(argc, argv); }
