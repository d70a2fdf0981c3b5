// The entry point of a shared library of backends. docs/adding-a-backend.md explains how to write
// one; plugins.h loads them.
#pragma once

#include <ambit/backend/registry.h>

#include <cstdint>

/// @cond
// C++ types cross the boundary between ambit and a plugin, so both must be built with the same ABI,
// which these names encode.
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
/// @endcond

/// "ambit 0.2.0, C++ ABI 1017, cxx11 1"; must be equal on both sides.
#define AMBIT_BUILD_TAG                                \
  "ambit " AMBIT_VERSION ", C++ ABI " AMBIT_STRINGIFY( \
      __GXX_ABI_VERSION) ", cxx11 " AMBIT_STRINGIFY(_GLIBCXX_USE_CXX11_ABI) AMBIT_SANITIZER_TAG

namespace ambit {

/// Identifies a plugin of ambit: "amplugin".
inline constexpr uint64_t kPluginMagic = 0x6e6967756c706d61;
/// The version of the binary interface; ambit and a plugin must have the same.
inline constexpr uint32_t kPluginAbi = 3;

/// Returned by a plugin's entry point. The first three members must never move: they are checked
/// before the others are read.
struct PluginInfo {
  uint64_t magic;           ///< kPluginMagic
  uint32_t abi;             ///< kPluginAbi
  uint32_t size;            ///< sizeof(PluginInfo), in bytes
  const char* build_tag;    ///< AMBIT_BUILD_TAG
  const char* name;         ///< name of the plugin: [a-z][a-z0-9_]*
  void (*load)(Registry&);  ///< registers backends and kernels
  /// True if it provides substitutes for missing devices, like a simulator; a search of all plugins
  /// loads it last, when the missing devices are known.
  bool stand_in = false;
};

}  // namespace ambit

/// Define the entry point of a library of backends; `load_function` is a void(ambit::Registry&). No
/// semicolon after it: AMBIT_PLUGIN(cuda, ambit::cuda::load)
/// Further members of PluginInfo may follow: AMBIT_PLUGIN(sim, ambit::sim::load, .stand_in = true)
/// Built into libambit (AMBIT_BUILTIN), the same source defines a function with a name of its own.
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
