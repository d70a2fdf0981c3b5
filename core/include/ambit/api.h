// The version, and AMBIT_API, which marks exported functions: libambit hides every other symbol.
#pragma once

/// The version of ambit, "major.minor.patch", as `ambit info` and the packages show it.
#define AMBIT_VERSION "0.2.0"
/// Marks a class or function that libambit exports.
#define AMBIT_API __attribute__((visibility("default")))

/// Marks a function in a header that device code may call too.
#ifdef __CUDACC__
#define AMBIT_HOST_DEVICE __host__ __device__
#else
#define AMBIT_HOST_DEVICE
#endif
