// AMBIT_ASAN and AMBIT_TSAN: the sanitizer of this build. Caches are disabled or annotated if they
// would hide errors from it.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define AMBIT_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define AMBIT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AMBIT_ASAN 1
#elif __has_feature(thread_sanitizer)
#define AMBIT_TSAN 1
#endif
#endif
