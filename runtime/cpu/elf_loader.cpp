#include "runtime/cpu/elf_loader.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"

namespace farm {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using DynamicEntry = ElfW(Dyn);
using Symbol = ElfW(Sym);

/// An ISA to the loader: its number and its names for the four relocations that a shared object needs.
struct Machine {
  std::string_view name;
  uint16_t machine;
  bool addends_in_place;  // REL instead of RELA
  uint32_t relative, glob_dat, jump_slot, absolute;
};
static constexpr Machine kMachines[] = {
    {"x86-64", EM_X86_64, false, R_X86_64_RELATIVE, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_64},
    {"aarch64", EM_AARCH64, false, R_AARCH64_RELATIVE, R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT, R_AARCH64_ABS64},
    {"armv7", EM_ARM, true, R_ARM_RELATIVE, R_ARM_GLOB_DAT, R_ARM_JUMP_SLOT, R_ARM_ABS32},
    {"riscv64", EM_RISCV, false, R_RISCV_RELATIVE, R_RISCV_64, R_RISCV_JUMP_SLOT, R_RISCV_64},
};
#if defined(__x86_64__)
static constexpr const Machine& kHost = kMachines[0];
#elif defined(__aarch64__)
static constexpr const Machine& kHost = kMachines[1];
#elif defined(__arm__)
static constexpr const Machine& kHost = kMachines[2];
#elif defined(__riscv)
static constexpr const Machine& kHost = kMachines[3];
#else
#error "the loader knows no relocations of this ISA: add a row to kMachines"
#endif

static constexpr uint64_t kMaxImageBytes = uint64_t{1} << 30;
static constexpr unsigned char kNativeClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

static std::string machine_name(uint16_t machine) {
  for (const auto& row : kMachines)
    if (row.machine == machine) return std::string(row.name);
  return "machine " + std::to_string(machine);
}

template <class... Parts>
static std::unexpected<Error> refuse(const Parts&... parts) {
  return fail(ErrorCode::InvalidArgument, "shared object refused: ", parts...);
}

/// One loading, step by step.
class ElfImage {
 public:
  explicit ElfImage(std::span<const std::byte> file) : file_(file) {}

  Result<LoadedObject> load() {
    FARM_CHECK(read_header());
    FARM_CHECK(read_segments());
    FARM_CHECK(map_segments());
    FARM_CHECK(read_dynamic_section());
    FARM_CHECK(relocate());
    FARM_CHECK(protect());
    return std::move(object_);
  }

 private:
  struct Relocations {
    uint64_t address = 0, bytes = 0;
  };

  /// `count` items of the file at `offset`, or nothing.
  template <class T>
  std::optional<std::vector<T>> file_items(uint64_t offset, uint64_t count) const {
    if (offset > file_.size() || count > (file_.size() - offset) / sizeof(T)) return std::nullopt;
    std::vector<T> items(count);
    if (count > 0) std::memcpy(items.data(), file_.data() + offset, count * sizeof(T));
    return items;
  }
  bool inside_image(uint64_t address, uint64_t bytes) const {
    return address <= object_.bytes_ && bytes <= object_.bytes_ - address;
  }
  template <class T>
  std::optional<T> image_item(uint64_t table, uint64_t index) const {
    if (index > kMaxImageBytes || table > kMaxImageBytes || !inside_image(table + index * sizeof(T), sizeof(T)))
      return std::nullopt;
    T item;
    std::memcpy(&item, object_.base_ + table + index * sizeof(T), sizeof(T));
    return item;
  }

  Status read_header() {
    auto header = file_items<Header>(0, 1);
    if (!header || std::memcmp(header->front().e_ident, ELFMAG, SELFMAG) != 0) return refuse("it is no elf file");
    header_ = header->front();
    if (header_.e_machine != kHost.machine)
      return refuse("it is for ", machine_name(header_.e_machine), " when this device is ", kHost.name);
    if (header_.e_ident[EI_CLASS] != kNativeClass || header_.e_ident[EI_DATA] != ELFDATA2LSB)
      return refuse("its word size or byte order is not that of ", kHost.name);
    if (header_.e_type != ET_DYN) return refuse("its type is ", header_.e_type, ", not a shared object");
    return {};
  }

  Status read_segments() {
    auto headers = header_.e_phentsize == sizeof(Segment) && header_.e_phnum <= 64
                       ? file_items<Segment>(header_.e_phoff, header_.e_phnum)
                       : std::nullopt;
    if (!headers) return refuse("its program headers lie outside the file");
    for (const Segment& segment : *headers) {
      if (segment.p_type == PT_TLS) return refuse("it has thread-local storage");
      if (segment.p_type == PT_INTERP) return refuse("it names an interpreter");
      if (segment.p_type == PT_DYNAMIC) dynamic_ = segment;
      if (segment.p_type == PT_LOAD) FARM_CHECK(add_segment(segment));
    }
    if (segments_.empty() || !dynamic_) return refuse("it has no segment to load or no dynamic section");
    return {};
  }

  uint64_t page_floor(uint64_t address) const { return address & ~(page_ - 1); }
  uint64_t page_ceil(uint64_t address) const { return page_floor(address + page_ - 1); }

  Status add_segment(const Segment& segment) {
    bool in_file = segment.p_offset <= file_.size() && segment.p_filesz <= file_.size() - segment.p_offset;
    bool in_image = segment.p_vaddr <= kMaxImageBytes && segment.p_memsz <= kMaxImageBytes - segment.p_vaddr;
    if (!in_file || !in_image || segment.p_filesz > segment.p_memsz)
      return refuse("a segment at ", segment.p_vaddr, " does not fit the file or its own size");
    if ((segment.p_flags & PF_W) && (segment.p_flags & PF_X)) return refuse("a segment is writable and executable");
    if (!segments_.empty()) {
      const Segment& before = segments_.back();
      if (page_floor(segment.p_vaddr) < page_ceil(before.p_vaddr + before.p_memsz))
        return refuse("two segments share a page or are out of order");
    }
    segments_.push_back(segment);
    return {};
  }

  Status map_segments() {
    const Segment& last = segments_.back();
    object_.bytes_ = page_ceil(last.p_vaddr + last.p_memsz);
    void* base = mmap(nullptr, std::max<size_t>(object_.bytes_, page_), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
      return fail(ErrorCode::Unavailable, "no memory for a shared object of ", object_.bytes_, " bytes");
    object_.base_ = static_cast<std::byte*>(base);
    for (const Segment& segment : segments_)
      std::copy_n(file_.data() + segment.p_offset, segment.p_filesz, object_.base_ + segment.p_vaddr);
    return {};
  }

  Status read_dynamic_section() {
    uint64_t hash_table = 0;
    for (uint64_t i = 0;; ++i) {
      auto entry =
          i < dynamic_->p_memsz / sizeof(DynamicEntry) ? image_item<DynamicEntry>(dynamic_->p_vaddr, i) : std::nullopt;
      if (!entry) return refuse("its dynamic section has no end");
      if (entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_HASH) hash_table = entry->d_un.d_ptr;
      FARM_CHECK(read_dynamic_entry(*entry));
    }
    auto chains = hash_table ? image_item<uint32_t>(hash_table, 1) : std::nullopt;
    if (!chains) return refuse("it has no symbol hash table of the classic kind (link with --hash-style=both)");
    auto& tables = object_.tables_;
    tables.symbol_count = *chains;
    if (!inside_image(tables.symbols, tables.symbol_count * sizeof(Symbol)) ||
        !inside_image(tables.strings, tables.string_bytes))
      return refuse("its symbol table lies outside the image");
    if (!needed_.empty()) return refuse("it needs the library ", text_at(needed_.front()));
    return {};
  }

  Status read_dynamic_entry(const DynamicEntry& entry) {
    uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
      case DT_NEEDED:
        needed_.push_back(value);
        break;
      case DT_SYMTAB:
        object_.tables_.symbols = value;
        break;
      case DT_STRTAB:
        object_.tables_.strings = value;
        break;
      case DT_STRSZ:
        object_.tables_.string_bytes = value;
        break;
      case DT_RELA:
      case DT_REL:
        relocations_.address = value;
        break;
      case DT_RELASZ:
      case DT_RELSZ:
        relocations_.bytes = value;
        break;
      case DT_JMPREL:
        plt_relocations_.address = value;
        break;
      case DT_PLTRELSZ:
        plt_relocations_.bytes = value;
        break;
      case DT_INIT:
      case DT_FINI:
      case DT_INIT_ARRAY:
      case DT_FINI_ARRAY:
      case DT_PREINIT_ARRAY:
        return refuse("it has constructors or destructors");
      case DT_TEXTREL:
        return refuse("it relocates its code");
      case DT_RELR:
        return refuse("it uses packed relocations");
      default:
        break;
    }
    return {};
  }

  std::string text_at(uint64_t offset) const {
    const auto& tables = object_.tables_;
    if (offset >= tables.string_bytes) return "?";
    const char* begin = reinterpret_cast<const char*>(object_.base_ + tables.strings + offset);
    return printable(std::string_view(begin, strnlen(begin, tables.string_bytes - offset)));
  }

  Status relocate() {
    for (const auto& table : {relocations_, plt_relocations_})
      FARM_CHECK(kHost.addends_in_place ? apply_table<ElfW(Rel)>(table) : apply_table<ElfW(Rela)>(table));
    return {};
  }

  template <class Relocation>
  Status apply_table(const Relocations& table) {
    if (!inside_image(table.address, table.bytes)) return refuse("its relocations lie outside the image");
    for (uint64_t i = 0; i < table.bytes / sizeof(Relocation); ++i)
      FARM_CHECK(apply(*image_item<Relocation>(table.address, i)));
    return {};
  }

  template <class Relocation>
  Status apply(const Relocation& relocation) {
    constexpr int kSymbolShift = sizeof(void*) == 8 ? 32 : 8;
    auto type = static_cast<uint32_t>(relocation.r_info & ((uint64_t{1} << kSymbolShift) - 1));
    auto symbol = static_cast<uint64_t>(relocation.r_info) >> kSymbolShift;
    std::byte* place = writable_word(relocation.r_offset);
    if (!place) return refuse("a relocation writes outside its data");
    uintptr_t addend = 0;
    if constexpr (requires { relocation.r_addend; })
      addend = static_cast<uintptr_t>(relocation.r_addend);
    else
      std::memcpy(&addend, place, sizeof addend);
    uintptr_t value;
    if (type == kHost.relative) {
      value = reinterpret_cast<uintptr_t>(object_.base_) + addend;
    } else if (type == kHost.absolute || type == kHost.glob_dat || type == kHost.jump_slot) {
      FARM_TRY(value, resolve(symbol));
      if (type == kHost.absolute) value += addend;
    } else {
      return refuse("it has a relocation of the unknown type ", type);
    }
    std::memcpy(place, &value, sizeof value);
    return {};
  }

  std::byte* writable_word(uint64_t address) const {
    for (const Segment& segment : segments_)
      if ((segment.p_flags & PF_W) && address >= segment.p_vaddr && segment.p_memsz >= sizeof(uintptr_t) &&
          address - segment.p_vaddr <= segment.p_memsz - sizeof(uintptr_t))
        return object_.base_ + address;
    return nullptr;
  }

  Result<uintptr_t> resolve(uint64_t index) const {
    if (index >= object_.tables_.symbol_count)
      return refuse("a relocation names symbol ", index, " of ", object_.tables_.symbol_count);
    auto symbol = *image_item<Symbol>(object_.tables_.symbols, index);
    if (symbol.st_shndx != SHN_UNDEF) {
      if (symbol.st_value > object_.bytes_)
        return refuse("the symbol ", text_at(symbol.st_name), " lies outside the image");
      return reinterpret_cast<uintptr_t>(object_.base_) + symbol.st_value;
    }
    std::string name = text_at(symbol.st_name);
    if (void* address = allowed_import(name)) return reinterpret_cast<uintptr_t>(address);
    return refuse("it imports ", name, ", which kernels may not use");
  }

  /// Last of all, since until here everything was writable and nothing executable.
  Status protect() {
    if (mprotect(object_.base_, object_.bytes_, PROT_NONE) != 0) return cannot_protect();
    for (const Segment& segment : segments_) {
      uint64_t begin = page_floor(segment.p_vaddr), end = page_ceil(segment.p_vaddr + segment.p_memsz);
      int protection = PROT_READ | (segment.p_flags & PF_W ? PROT_WRITE : 0) | (segment.p_flags & PF_X ? PROT_EXEC : 0);
      if (end > begin && mprotect(object_.base_ + begin, end - begin, protection) != 0) return cannot_protect();
      if (segment.p_flags & PF_X)
        __builtin___clear_cache(reinterpret_cast<char*>(object_.base_ + begin),
                                reinterpret_cast<char*>(object_.base_ + end));
    }
    return check_tables_readable();
  }
  static Status cannot_protect() {
    return fail(ErrorCode::Unavailable, "cannot make a shared object's code executable: ", std::strerror(errno));
  }

  /// `function` reads the tables later: they must not lie in a gap between segments.
  Status check_tables_readable() const {
    const auto& tables = object_.tables_;
    bool readable = in_one_segment(tables.symbols, tables.symbol_count * sizeof(Symbol)) &&
                    in_one_segment(tables.strings, tables.string_bytes);
    if (!readable) return refuse("its symbol table lies between its segments");
    return {};
  }
  bool in_one_segment(uint64_t address, uint64_t bytes) const {
    return std::ranges::any_of(segments_, [&](const Segment& segment) {
      return address >= segment.p_vaddr && address - segment.p_vaddr <= segment.p_memsz &&
             bytes <= segment.p_memsz - (address - segment.p_vaddr);
    });
  }

  std::span<const std::byte> file_;
  uint64_t page_ = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  Header header_{};
  std::vector<Segment> segments_;
  std::optional<Segment> dynamic_;
  std::vector<uint64_t> needed_;
  Relocations relocations_, plt_relocations_;
  LoadedObject object_;
};

Result<LoadedObject> LoadedObject::load(std::span<const std::byte> file) { return ElfImage(file).load(); }

LoadedObject::LoadedObject(LoadedObject&& other) noexcept { *this = std::move(other); }
LoadedObject& LoadedObject::operator=(LoadedObject&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(tables_, other.tables_);
  return *this;
}
LoadedObject::~LoadedObject() {
  if (base_) munmap(base_, bytes_);
}

void* LoadedObject::function(std::string_view name) const {
  const char* strings = reinterpret_cast<const char*>(base_ + tables_.strings);
  for (uint64_t i = 0; i < tables_.symbol_count; ++i) {
    Symbol symbol;
    std::memcpy(&symbol, base_ + tables_.symbols + i * sizeof symbol, sizeof symbol);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value >= bytes_ || symbol.st_name >= tables_.string_bytes) continue;
    if ((symbol.st_info & 15) != STT_FUNC) continue;
    const char* begin = strings + symbol.st_name;
    if (std::string_view(begin, strnlen(begin, tables_.string_bytes - symbol.st_name)) == name)
      return base_ + symbol.st_value;
  }
  return nullptr;
}

}  // namespace farm
