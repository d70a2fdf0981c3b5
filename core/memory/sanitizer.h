// AMBIT_ASAN and AMBIT_TSAN: which sanitizer this is compiled with. Caches keep quiet under one
// that would not see through them.
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
