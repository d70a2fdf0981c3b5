// Tells if the cpu multiplies bfloat16 or converts it to float32.
#pragma once

#include <ambit/backend/registry.h>

#include <string>

/// As backends/cpu/README.md, "Instruction sets", says, products and convolutions multiply
/// bfloat16 where oneDNN has AVX512_BF16. `ambit info` shows the best set that oneDNN may use, of
/// which those from AVX512_BF16 on have bf16, amx or fp16 in their name.
inline bool cpu_multiplies_bfloat16() {
  for (const auto& [name, value] : ambit::usable_backend(ambit::kCPU).properties(0).details) {
    if (name != "oneDNN") continue;
    for (const char* set : {"avx512_core_bf16", "avx512_core_fp16", "amx"}) {
      if (value.find(set) != std::string::npos) return true;
    }
  }
  return false;
}
