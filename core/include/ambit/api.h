// AMBIT_API marks exported functions: libambit hides every other symbol. And the version.
#pragma once

#define AMBIT_VERSION "0.2.0"
#define AMBIT_API __attribute__((visibility("default")))

// Marks a function in a header that device code may call too.
#ifdef __CUDACC__
#define AMBIT_HOST_DEVICE __host__ __device__
#else
#define AMBIT_HOST_DEVICE
#endif
