// An entry of an OutputArchive. Private to core.
#pragma once

#include <ambit/archive.h>

#include <memory>
#include <string>
#include <vector>

namespace ambit::serialize {

struct ArchiveEntry {
  enum class Role { parameter, buffer, attribute };

  std::string key;
  Value value{};
  Role role = Role::attribute;
  std::shared_ptr<const std::vector<ArchiveEntry>> nested{};  ///< instead of a value
  int depth = 0;                                              ///< levels of nested archives
};

}  // namespace ambit::serialize
