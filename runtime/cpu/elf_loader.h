// Loads the shared objects that code generators emit: the one loader on every ISA, in static programs too.
//
// The file is hostile until proven otherwise: every offset, size and index in it is checked against the image before
// use. It may import only what `allowed_import` knows, needs no other library, has no thread-local storage and no
// constructors, and no page of it is ever writable and executable at once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace farm {

/// Code and data of one shared object in memory; unmapped with it. Move only.
class LoadedObject {
 public:
  /// InvalidArgument with the reason, naming the import, library or machine that is refused.
  static Result<LoadedObject> load(std::span<const std::byte> file);

  LoadedObject(LoadedObject&& other) noexcept;
  LoadedObject& operator=(LoadedObject&& other) noexcept;
  ~LoadedObject();

  /// Address of a defined function; null when there is none of that name.
  void* function(std::string_view name) const;

 private:
  LoadedObject() = default;
  friend class ElfImage;

  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
  struct Tables {
    uint64_t symbols = 0, symbol_count = 0, strings = 0, string_bytes = 0;
  } tables_;
};

/// The function that an import of that name is bound to; null when kernels may not use it.
void* allowed_import(std::string_view name);

}  // namespace farm
