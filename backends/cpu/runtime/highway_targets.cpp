// The functions of libhwy that dynamic dispatch calls. libambit is not linked with libhwy: version
// 1.0.3 spends 3.5 ms at the start of each program on timers for its benchmarks.
#undef HWY_SHARED_DEFINE  // hidden functions: the program may use another version of libhwy
#include "simd_targets.h"
// After simd_targets.h:
#include <hwy/targets.h>

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

#include <atomic>

#include "instruction_sets.h"

namespace hwy {
namespace {

constinit ChosenTarget chosen_target;
constinit std::atomic<int64_t> disabled_targets = 0, targets_for_test = 0;

// Return the targets whose instructions this CPU and the operating system support, of those for
// which simd_targets.h compiles code.
int64_t detect_targets() {
  int64_t targets = HWY_ENABLED_BASELINE;
#if HWY_ARCH_X86
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  __get_cpuid(1, &eax, &ebx, &ecx, &edx);
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                        __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul") &&
                        (ecx & bit_F16C) != 0;
  if (has_avx2) targets |= HWY_AVX2;
  if (has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw")) {
    targets |= HWY_AVX3;
  }
#endif
  return targets;
}

}  // namespace

ChosenTarget& GetChosenTarget() { return chosen_target; }

int64_t SupportedTargets() {
  const int64_t for_test = targets_for_test.load();
  const int64_t targets = (for_test != 0 ? for_test : detect_targets()) & ~disabled_targets.load();
  return targets != 0 ? targets : HWY_STATIC_TARGET;
}

void DisableTargets(int64_t targets) {
  disabled_targets.store(targets & ~HWY_ENABLED_BASELINE);
  chosen_target.DeInit();
}

}  // namespace hwy

namespace ambit::cpu {

int64_t highway_targets() { return hwy::SupportedTargets(); }

void set_highway_targets(int64_t targets) {
  hwy::targets_for_test.store(targets);
  hwy::chosen_target.Update(hwy::SupportedTargets());
}

}  // namespace ambit::cpu
