// What a shared library of backends exports. backends/README.md says how to write one; plugins.h
// loads them.
#pragma once

#include <ambit/backend/registry.h>

#include <cstdint>

// C++ types cross the border between ambit and a plugin, so both must agree on what these names
// say.
#if defined(__SANITIZE_ADDRESS__)
#define AMBIT_SANITIZER_TAG " asan"
#elif defined(__SANITIZE_THREAD__)
#define AMBIT_SANITIZER_TAG " tsan"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AMBIT_SANITIZER_TAG " asan"
#elif __has_feature(thread_sanitizer)
#define AMBIT_SANITIZER_TAG " tsan"
#endif
#endif
#ifndef AMBIT_SANITIZER_TAG
#define AMBIT_SANITIZER_TAG ""
#endif
#define AMBIT_STRINGIFY_(x) #x
#define AMBIT_STRINGIFY(x) AMBIT_STRINGIFY_(x)

/// "ambit 0.1.0, C++ ABI 1017, cxx11 1": must be equal on both sides.
#define AMBIT_BUILD_TAG                                \
  "ambit " AMBIT_VERSION ", C++ ABI " AMBIT_STRINGIFY( \
      __GXX_ABI_VERSION) ", cxx11 " AMBIT_STRINGIFY(_GLIBCXX_USE_CXX11_ABI) AMBIT_SANITIZER_TAG

namespace ambit {

inline constexpr uint64_t kPluginMagic = 0x6e6967756c706d61;  // "amplugin"
inline constexpr uint32_t kPluginAbi = 3;

/// What a plugin's entry returns. The first three members never change place: they are read before
/// anything else is believed.
struct PluginInfo {
  uint64_t magic;
  uint32_t abi;
  uint32_t size;          ///< sizeof(PluginInfo), in bytes
  const char* build_tag;  ///< AMBIT_BUILD_TAG
  const char* name;       ///< of the plugin: [a-z][a-z0-9_]*
  void (*load)(Registry&);
  /// Whether it offers devices in the place of others that may be missing, as a simulator does: a
  /// search of all plugins then loads it last, when it is known what is missing.
  bool stand_in = false;
};

}  // namespace ambit

/// Define the entry of a library of backends; `load_function` is a void(ambit::Registry&). No
/// semicolon after it: AMBIT_PLUGIN(cuda, ambit::cuda::load)
/// What else PluginInfo says may follow: AMBIT_PLUGIN(sim, ambit::sim::load, .stand_in = true)
/// The same source built into libambit (AMBIT_BUILTIN) is called under a name of its own.
#ifdef AMBIT_BUILTIN
#define AMBIT_PLUGIN(plugin, load_function, ...) \
  extern "C" void ambit_load_##plugin(ambit::Registry& registry) { load_function(registry); }
#else
#define AMBIT_PLUGIN(plugin, load_function, ...)                                                \
  extern "C" AMBIT_API const ambit::PluginInfo* ambit_plugin() {                                \
    static constexpr ambit::PluginInfo kInfo{.magic = ambit::kPluginMagic,                      \
                                             .abi = ambit::kPluginAbi,                          \
                                             .size = sizeof(ambit::PluginInfo),                 \
                                             .build_tag = AMBIT_BUILD_TAG,                      \
                                             .name = #plugin,                                   \
                                             .load = load_function __VA_OPT__(, ) __VA_ARGS__}; \
    return &kInfo;                                                                              \
  }
#endif
