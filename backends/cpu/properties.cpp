#include "properties.h"

#include <ambit/backend/caching_allocator.h>
#include <ambit/parallel.h>
#include <dnnl.h>
#include <dnnl_debug.h>
#include <fmt/format.h>

#include <bit>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "backends/cpu/runtime/instruction_sets.h"
#include "backends/cpu/runtime/lapack.h"
#include "backends/cpu/runtime/simd_targets.h"
// Highway must know which targets are disabled.
#include <hwy/highway.h>

namespace ambit::cpu {
namespace {

using Fields = std::map<std::string, std::string>;

/// Read Linux's description of the first processor: "model name", "flags", ...
Fields processor() {
  Fields fields;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line) && !line.empty();) {
    const size_t colon = line.find(": "), end = line.find_last_not_of(" \t", line.find(':') - 1);
    if (colon != std::string::npos) fields[line.substr(0, end + 1)] = line.substr(colon + 2);
  }
  return fields;
}

std::string architecture() {
#if defined(__aarch64__)
  return "aarch64";
#elif defined(__x86_64__)
  return "x86_64";
#else
  return "CPU";
#endif
}

/// Return the flags about vectors and matrices, from Linux's "flags" (x86) or "Features" (Arm).
std::string vector_features(const Fields& fields) {
  const auto flags = fields.count("flags") ? fields.find("flags") : fields.find("Features");
  if (flags == fields.end()) return "unknown";
  std::istringstream words(flags->second);
  std::string kept;
  for (std::string word; words >> word;) {
    for (const std::string_view family :
         {"sse4", "avx", "fma", "f16c", "amx", "asimd", "sve", "bf16", "i8mm"}) {
      if (word.starts_with(family)) {
        kept += (kept.empty() ? "" : " ") + word;
        break;
      }
    }
  }
  return kept.empty() ? "none" : kept;
}

std::string onednn() {
  const dnnl_version_t* v = dnnl_version();
  std::string isa = architecture();
#if defined(__x86_64__)  // elsewhere oneDNN returns x86 names
  isa = dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa());
  if (constexpr std::string_view kPrefix = "cpu_isa_"; isa.starts_with(kPrefix)) {
    isa.erase(0, kPrefix.size());
  }
#endif
  return fmt::format("{}.{}.{}, {}, {}", v->major, v->minor, v->patch,
                     dnnl_runtime2str(v->cpu_runtime), isa);
}

/// Return the best instruction set that is compiled in and that this CPU has: the lowest bit.
std::string highway() {
  const auto usable = static_cast<uint64_t>(hwy::SupportedTargets() & HWY_TARGETS);
  const char* best =
      usable == 0 ? "none" : hwy::TargetName(static_cast<int64_t>(usable & (~usable + 1)));
  return fmt::format("{}.{}.{}, {}", HWY_MAJOR, HWY_MINOR, HWY_PATCH, best);
}

}  // namespace

DeviceProperties device_properties() {
  const Fields fields = processor();
  const auto model = fields.find("model name");
  return {.name = model == fields.end() ? architecture() : model->second,
          .total_memory = HostMemory::total_bytes(),
          .details = {{"threads", std::to_string(get_num_threads())},
                      {"vector features", vector_features(fields)},
                      {"AMBIT_CPU_ISA", name(instruction_set_limit())},
                      {"oneDNN", onednn()},
                      {"Highway", highway()},
                      {"LAPACK", lapack_name()}}};
}

}  // namespace ambit::cpu
