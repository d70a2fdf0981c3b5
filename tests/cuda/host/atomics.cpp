// Atomic operations in the host code of files with device code. Those files are compiled with
// -fsanitize=thread, which replaces each operation by a call of a function: this file implements
// those functions.
#include <ambit/api.h>

#include <cstdint>

#define AMBIT_FETCH(n, op)                                                                    \
  AMBIT_API uint##n##_t ambit_cuda_host_fetch_##op##n(volatile uint##n##_t* p, uint##n##_t v, \
                                                      int) {                                  \
    return __atomic_fetch_##op(p, v, __ATOMIC_SEQ_CST);                                       \
  }
#define AMBIT_ATOMICS(n)                                                                           \
  AMBIT_API uint##n##_t ambit_cuda_host_load##n(const volatile uint##n##_t* p, int) {              \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                \
  AMBIT_API void ambit_cuda_host_store##n(volatile uint##n##_t* p, uint##n##_t v, int) {           \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                \
  AMBIT_API uint##n##_t ambit_cuda_host_exchange##n(volatile uint##n##_t* p, uint##n##_t v, int) { \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                            \
  }                                                                                                \
  AMBIT_API bool ambit_cuda_host_compare_exchange##n(                                              \
      volatile uint##n##_t* p, uint##n##_t* expected, uint##n##_t v, int, int) {                   \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                \
  AMBIT_FETCH(n, add)                                                                              \
  AMBIT_FETCH(n, sub)                                                                              \
  AMBIT_FETCH(n, and)                                                                              \
  AMBIT_FETCH(n, or)                                                                               \
  AMBIT_FETCH(n, xor)

extern "C" {
AMBIT_ATOMICS(8)
AMBIT_ATOMICS(16)
AMBIT_ATOMICS(32)
AMBIT_ATOMICS(64)
}
