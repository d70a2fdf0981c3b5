// Runs the command-line tool as a program.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/child_process.h"

/// Run the tool with settings such as "AMBIT_SIM=npu:1", without the parent's settings of ambit and
/// without GPUs. Its output is only stdout, unless the arguments say "2>&1".
inline ChildResult tool(const std::string& arguments, const std::string& settings = "") {
  return run_command(
      "env -u AMBIT_BACKEND_PATH -u AMBIT_FALLBACK CUDA_VISIBLE_DEVICES= "
      "AMBIT_SIM=sim:1 " +
      settings + " " + emulator() + AMBIT_TOOL " " + arguments);
}

inline const std::string kPatchy = "AMBIT_BACKEND_PATH=" AMBIT_TEST_PLUGINS;
inline const std::string kPatchyFile = AMBIT_TEST_PLUGINS "/libambit_patchy.so";

inline nlohmann::json ops(const std::string& arguments, const std::string& settings = "") {
  return nlohmann::json::parse(tool("ops --format json " + arguments, settings).output);
}

inline const nlohmann::json* find(const nlohmann::json& list, const char* key,
                                  const std::string& value) {
  for (const nlohmann::json& item : list) {
    if (item[key] == value) return &item;
  }
  return nullptr;
}
