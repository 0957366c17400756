// What a shared library offers and what it asks of the system, read from the file.
#pragma once
#include <elf.h>

#include <set>
#include <string>

namespace farm {

struct ElfFacts {
  std::set<std::string> exported, needed;
};

/// `file` is a 64-bit little-endian shared object; anything else gives nothing.
inline ElfFacts elf_facts(const std::string& file) {
  ElfFacts facts;
  const auto* bytes = file.data();
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(bytes);
  if (file.size() < sizeof *header || header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_type != ET_DYN) return facts;
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    const Elf64_Shdr& section = sections[i];
    if (section.sh_type != SHT_DYNSYM && section.sh_type != SHT_DYNAMIC) continue;
    const char* names = bytes + sections[section.sh_link].sh_offset;
    if (section.sh_type == SHT_DYNSYM) {
      const auto* symbols = reinterpret_cast<const Elf64_Sym*>(bytes + section.sh_offset);
      for (size_t k = 1; k < section.sh_size / sizeof(Elf64_Sym); ++k)
        if (symbols[k].st_shndx != SHN_UNDEF) facts.exported.insert(names + symbols[k].st_name);
    } else {
      const auto* entry = reinterpret_cast<const Elf64_Dyn*>(bytes + section.sh_offset);
      for (; entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_NEEDED) facts.needed.insert(names + entry->d_un.d_val);
    }
  }
  return facts;
}

}  // namespace farm
