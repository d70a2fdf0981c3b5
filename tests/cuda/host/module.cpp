#include "module.h"

#include <link.h>

#include <algorithm>
#include <map>
#include <vector>

namespace ambit::cuda::host {
namespace {

struct Search {
  uintptr_t address, begin = 0, end = 0, zeros_begin = 0, zeros_end = 0;
};

// Called for each shared object: check if it contains the address.
int visit(dl_phdr_info* info, size_t, void* data) {
  Search& s = *static_cast<Search*>(data);
  Search found{s.address, UINTPTR_MAX};
  bool holds = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const uintptr_t begin = info->dlpi_addr + part.p_vaddr, end = begin + part.p_memsz;
    holds = holds || s.address - begin < part.p_memsz;
    found.begin = std::min(found.begin, begin);
    found.end = std::max(found.end, end);
    if ((part.p_flags & PF_W) && part.p_memsz > part.p_filesz) {
      found.zeros_begin = begin + part.p_filesz;
      found.zeros_end = end;
    }
  }
  if (holds) s = found;
  return holds;
}

}  // namespace

Module& module_of(const void* kernel) {
  static auto* const known = new std::map<const void*, Module*>;
  static auto* const modules = new std::vector<Module*>;
  Module*& of_kernel = (*known)[kernel];
  if (of_kernel) return *of_kernel;
  Search s{reinterpret_cast<uintptr_t>(kernel)};
  dl_iterate_phdr(visit, &s);
  for (Module* m : *modules) {
    if (m->begin == s.begin) of_kernel = m;
  }
  if (!of_kernel) {
    of_kernel = new Module{s.begin, s.end - s.begin,
                           make_region(s.zeros_begin, s.zeros_end - s.zeros_begin, true)};
    modules->push_back(of_kernel);
  }
  return *of_kernel;
}

}  // namespace ambit::cuda::host
