// Private to the room `tuning_db`: what is wrong with a file's structure, and how to get out of it.
#pragma once
#include <string>
#include <vector>

#include "tuning_db/sqlite.h"

namespace farm {

enum class Check {
  Whole,  ///< indexes against the table too; up to twenty lines
  Quick,  ///< the pages alone; the first finding
};
/// One line each; empty when it is whole.
Result<std::vector<std::string>> structure_problems(const Connection& connection, Check check);

/// Why nobody writes into this file, and the two commands that save its records.
std::unexpected<Error> refuse_writing(const std::string& path, const std::string& why);

}  // namespace farm
