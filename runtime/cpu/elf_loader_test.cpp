#include "runtime/cpu/elf_loader.h"

#include <elf.h>
#include <link.h>

#include <cmath>
#include <cstring>

#include "base/rng.h"
#include "runtime/cpu/test_kernels.h"
#include "testing.h"

using namespace farm;

static std::string refusal(const std::vector<std::byte>& file) {
  auto object = LoadedObject::load(file);
  return object ? "" : object.error().message;
}

TEST_CASE("a shared object with imports, relocations and zeroed data runs") {
  auto object = LoadedObject::load(test_kernel_file("known_import"));
  REQUIRE(object);
  auto run = reinterpret_cast<farm_kernel>(object->function("farm_run"));
  REQUIRE(run != nullptr);
  float out[4] = {9, 9, 9, 9};
  void* args[] = {out};
  CHECK(run(nullptr, args) == 0);
  CHECK(out[0] == std::exp(1.0f));
  CHECK(out[1] == 42);
  CHECK(out[2] == 0);
  CHECK(out[3] == -10);
  CHECK(object->function("no_such_function") == nullptr);
}

TEST_CASE("an import that is not on the list is refused by name") {
  CHECK(refusal(test_kernel_file("unknown_import")) ==
        "shared object refused: it imports puts, which kernels may not use");
  CHECK(allowed_import("puts") == nullptr);
  CHECK(allowed_import("tanhf") != nullptr);
}

TEST_CASE("thread-local storage and constructors are refused") {
  CHECK(refusal(test_kernel_file("thread_local")).find("shared object refused: it ") == 0);
  CHECK(refusal(test_kernel_file("constructor")) == "shared object refused: it has constructors or destructors");
}

TEST_CASE("a file for another machine or of another kind is refused") {
  auto file = test_kernel_file("kernels");
  REQUIRE(refusal(file).empty());
  auto other = file;
  uint16_t machine = EM_MIPS;
  std::memcpy(other.data() + offsetof(ElfW(Ehdr), e_machine), &machine, sizeof machine);
  CHECK(refusal(other).find("it is for machine 8 when this device is ") != std::string::npos);
  other = file;
  uint16_t type = ET_EXEC;
  std::memcpy(other.data() + offsetof(ElfW(Ehdr), e_type), &type, sizeof type);
  CHECK(refusal(other) == "shared object refused: its type is 2, not a shared object");
  CHECK(refusal({}) == "shared object refused: it is no elf file");
}

/// Applies `change` to each program header.
template <class Change>
static std::vector<std::byte> with_segments(std::vector<std::byte> file, Change change) {
  ElfW(Ehdr) header;
  std::memcpy(&header, file.data(), sizeof header);
  for (int i = 0; i < header.e_phnum; ++i) {
    std::byte* place = file.data() + header.e_phoff + static_cast<size_t>(i) * sizeof(ElfW(Phdr));
    ElfW(Phdr) segment;
    std::memcpy(&segment, place, sizeof segment);
    change(segment);
    std::memcpy(place, &segment, sizeof segment);
  }
  return file;
}

TEST_CASE("a segment that is writable and executable is refused") {
  auto file = with_segments(test_kernel_file("kernels"), [](auto& segment) {
    if (segment.p_flags & PF_X) segment.p_flags |= PF_W;
  });
  CHECK(refusal(file) == "shared object refused: a segment is writable and executable");
}

TEST_CASE("segments beyond the file or the address space are refused") {
  auto file = test_kernel_file("kernels");
  auto longer = with_segments(file, [](auto& segment) { segment.p_filesz = segment.p_memsz = ~size_t{0} / 2; });
  CHECK(refusal(longer).find("shared object refused: ") == 0);
  auto further = with_segments(file, [](auto& segment) { segment.p_offset = ~size_t{0} - 100; });
  CHECK(refusal(further).find("shared object refused: ") == 0);
}

TEST_CASE("a file cut short or damaged anywhere is loaded or refused, and harms nobody") {
  for (const char* name : {"kernels", "known_import"}) {
    auto file = test_kernel_file(name);
    for (size_t size = 0; size < file.size(); size += 97)
      (void)refusal({file.begin(), file.begin() + static_cast<long>(size)});
    Rng rng(3);
    for (int round = 0; round < 3000; ++round) {
      auto damaged = file;
      // Most of the structure is at the front and at the end of the file.
      for (int i = 0; i < 4; ++i) {
        size_t place = rng.chance(0.5) ? rng.below(std::min<size_t>(1024, file.size())) : rng.below(file.size());
        damaged[place] = static_cast<std::byte>(rng.next());
      }
      auto object = LoadedObject::load(damaged);
      if (object) (void)object->function("farm_run");
    }
  }
  SUCCEED();
}
