// What tune found, for people and for scripts.
#pragma once
#include <string>

#include "tensor/tensor.h"
#include "tuner/tuner.h"

namespace farm {

/// The document of --json; docs/JSON.md describes it.
std::string tune_report_json(const TuneReport& report, const Network& network);

/// How the programs were called, for the commands that make sense next.
struct TuneCall {
  std::string prefix;      ///< "./farm " or ""
  std::string task_words;  ///< "--task conv2d", with --shape when it was given
  std::string device, tracker, db;
  int threads = 1;
  size_t trials_given = 0;  ///< 0: none
};
std::string tune_report_text(const TuneReport& report, const Network& network, const TuneCall& call);

}  // namespace farm
