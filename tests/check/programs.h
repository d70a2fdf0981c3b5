// The programs of this executable: <name> [device] runs one, a list's name runs all of the list.
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>

namespace planted {

using Programs = std::map<std::string, void (*)()>;

/// The device of the run.
inline torch::Device device = torch::kCPU;

/// Programs with one mistake each; "expect: <kind>" is on the line to be reported.
const Programs& mistakes();
/// Programs without a mistake.
const Programs& examples();

}  // namespace planted
