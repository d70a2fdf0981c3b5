#include "symbol.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <vector>

namespace ambit::cuda::host {
namespace {

template <class T>
std::vector<T> read_at(std::ifstream& file, uint64_t offset, uint64_t bytes) {
  std::vector<T> items(bytes / sizeof(T));
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(items.data()), static_cast<std::streamsize>(bytes));
  return items;
}

// Return the symbol that contains `offset` in the file; empty if there is none.
std::string symbol_at(const char* path, uint64_t offset) {
  std::ifstream file(path, std::ios::binary);
  const auto header = read_at<Elf64_Ehdr>(file, 0, sizeof(Elf64_Ehdr));
  if (!file) return "";
  const auto sections =
      read_at<Elf64_Shdr>(file, header[0].e_shoff, header[0].e_shnum * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB) continue;
    const auto symbols = read_at<Elf64_Sym>(file, section.sh_offset, section.sh_size);
    const Elf64_Shdr& text = sections[section.sh_link];
    const auto names = read_at<char>(file, text.sh_offset, text.sh_size);
    for (const Elf64_Sym& s : symbols) {
      if (ELF64_ST_TYPE(s.st_info) != STT_FUNC) continue;
      if (offset - s.st_value < s.st_size) return names.data() + s.st_name;
    }
  }
  return "";
}

}  // namespace

std::string function_name(const void* address) {
  Dl_info info{};
  if (!dladdr(address, &info)) return "a function of no file";
  const uint64_t offset =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(info.dli_fbase);
  const std::string mangled = symbol_at(info.dli_fname, offset);
  if (mangled.empty()) return fmt::format("a function at {}+{:#x}", info.dli_fname, offset);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return name ? name.get() : mangled;
}

}  // namespace ambit::cuda::host
