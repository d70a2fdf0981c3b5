// Loads bytes as one of PyTorch's files, for tests of broken ones.
#pragma once

#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "pickled_file.h"
#include "tests/temporary_folder.h"

/// Load bytes as a file; return the error's text, empty if it loaded.
inline std::string load_error(const std::string& bytes) {
  static const TemporaryFolder folder;
  // On some file systems overwriting a file waits for the disk.
  std::filesystem::remove(folder / "hostile.pth");
  const std::string path = folder.write("hostile.pth", bytes);
  try {
    ambit::load_checkpoint(path);
  } catch (const ambit::SerializationError& e) {
    CHECK(std::string(e.what()).starts_with("load: cannot read '" + path + "': "));
    return e.what();
  }
  return "";
}

inline std::string pickle_error(const std::string& pickle) {
  return load_error(pytorch_bytes(pickle));
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
