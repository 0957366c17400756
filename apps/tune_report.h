// What tune found, for people and for scripts.
#pragma once
#include <optional>
#include <string>

#include "tensor/tensor.h"
#include "tuner/tuner.h"

namespace farm {

/// The document of --json; docs/JSON.md describes it.
std::string tune_report_json(const TuneReport& report, const Network& network);

/// How tune was called, for the commands that make sense next: they work when pasted where this one was typed.
struct TuneCall {
  std::string prefix;  ///< what stands before a program's name: "./farm ", "build/release/bin/" or ""
  std::string task;
  std::optional<std::string> shape, constant;
  std::string device, tracker, db;
  std::optional<int> threads;  ///< when they were given
};
std::string tune_report_text(const TuneReport& report, const Network& network, const TuneCall& call);

}  // namespace farm
