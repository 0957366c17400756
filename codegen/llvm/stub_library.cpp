#include "codegen/llvm/stub_library.h"

#include <elf.h>

#include <cstring>

namespace farm::codegen {
namespace {

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
}

Elf64_Shdr section(uint32_t type, uint64_t offset, uint64_t size, uint32_t link, uint64_t entry) {
  return {.sh_name = 0,
          .sh_type = type,
          .sh_flags = SHF_ALLOC,
          .sh_addr = 0,
          .sh_offset = offset,
          .sh_size = size,
          .sh_link = link,
          .sh_info = type == SHT_DYNSYM ? 1U : 0U,
          .sh_addralign = 8,
          .sh_entsize = entry};
}

Elf64_Ehdr header(uint64_t sections_offset, uint16_t sections) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shoff = sections_offset;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = sections;
  return header;
}

}  // namespace

std::vector<std::byte> stub_library(const std::string& soname) {
  // What a linker reads of a library: dynamic strings, dynamic symbols (here only the empty first), the dynamic table.
  std::string strings = std::string(1, '\0') + soname + '\0';
  strings.resize((strings.size() + 7) / 8 * 8);
  const uint64_t strings_at = sizeof(Elf64_Ehdr);
  const uint64_t symbols_at = strings_at + strings.size();
  const uint64_t dynamic_at = symbols_at + sizeof(Elf64_Sym);
  const uint64_t sections_at = dynamic_at + 2 * sizeof(Elf64_Dyn);

  std::vector<std::byte> bytes;
  append(bytes, header(sections_at, 4));
  for (const char letter : strings) append(bytes, letter);
  append(bytes, Elf64_Sym{});
  append(bytes, Elf64_Dyn{.d_tag = DT_SONAME, .d_un = {.d_val = 1}});
  append(bytes, Elf64_Dyn{.d_tag = DT_NULL, .d_un = {.d_val = 0}});
  append(bytes, Elf64_Shdr{});
  append(bytes, section(SHT_STRTAB, strings_at, strings.size(), 0, 0));
  append(bytes, section(SHT_DYNSYM, symbols_at, sizeof(Elf64_Sym), 1, sizeof(Elf64_Sym)));
  append(bytes, section(SHT_DYNAMIC, dynamic_at, 2 * sizeof(Elf64_Dyn), 1, sizeof(Elf64_Dyn)));
  return bytes;
}

}  // namespace farm::codegen
