#include "instruction_sets.h"

#include <ambit/error.h>
#include <dnnl.h>
#include <fmt/format.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace ambit::cpu {
namespace {

constexpr std::array kNames{"sse4", "avx2", "avx512", "avx512_bf16", "none"};

InstructionSet limit_of_environment() {
  const char* value = std::getenv("AMBIT_CPU_ISA");
  const std::string_view text = value ? value : "";
  if (text.empty()) return InstructionSet::all;
  const auto found = std::find(kNames.begin(), kNames.end() - 1, text);
  if (found == kNames.end() - 1) {
    throw Error(
        fmt::format("AMBIT_CPU_ISA: expected sse4, avx2, avx512 or avx512_bf16, got \"{}\"", text));
  }
  return static_cast<InstructionSet>(found - kNames.begin());
}

}  // namespace

InstructionSet instruction_set_limit() {
  static const InstructionSet limit = limit_of_environment();
  return limit;
}

const char* name(InstructionSet set) { return kNames[static_cast<size_t>(set)]; }

void limit_instruction_sets() {
  const InstructionSet limit = instruction_set_limit();
#if defined(__x86_64__)
  if (limit == InstructionSet::all) return;
  struct Level {
    int64_t highway;
    dnnl_cpu_isa_t onednn;
  };
  static constexpr Level kLevels[] = {{HWY_SSE4, dnnl_cpu_isa_sse41},
                                      {HWY_AVX2, dnnl_cpu_isa_avx2},
                                      {HWY_AVX3, dnnl_cpu_isa_avx512_core},
                                      {HWY_AVX3, dnnl_cpu_isa_avx512_core_bf16}};
  const Level& level = kLevels[static_cast<size_t>(limit)];
  hwy::DisableTargets(level.highway - 1);  // better sets have lower bits
  if (std::getenv("ONEDNN_MAX_CPU_ISA") || std::getenv("DNNL_MAX_CPU_ISA")) return;
  // Fails if the program has already used oneDNN; `ambit info` shows the set in use.
  static_cast<void>(dnnl_set_max_cpu_isa(level.onednn));
#else
  static_cast<void>(limit);
#endif
}

}  // namespace ambit::cpu
