// Plugins whose entries this ambit refuses; each member can be replaced by a definition.
#include <ambit/backend/plugin.h>

#include <stdexcept>

#ifndef MAGIC
#define MAGIC ambit::kPluginMagic
#endif
#ifndef ABI
#define ABI ambit::kPluginAbi
#endif
#ifndef SIZE
#define SIZE sizeof(ambit::PluginInfo)
#endif
#ifndef BUILD_TAG
#define BUILD_TAG AMBIT_BUILD_TAG
#endif
#ifndef NAME
#define NAME "fixture"
#endif
#ifndef LOAD
#define LOAD must_not_run
#endif
#ifndef RESULT
#define RESULT &kInfo
#endif

namespace {

// If this function were called, the report would show it.
[[maybe_unused]] void must_not_run(ambit::Registry&) {
  throw std::logic_error("load() of a plugin whose entry is wrong was called");
}

[[maybe_unused]] constexpr ambit::PluginInfo kInfo{MAGIC, ABI, SIZE, BUILD_TAG, NAME, LOAD};

}  // namespace

extern "C" AMBIT_API const ambit::PluginInfo* ambit_plugin() { return RESULT; }
