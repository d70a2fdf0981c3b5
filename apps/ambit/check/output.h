// The forms of a report.
#pragma once

#include <string>

#include "findings.h"

namespace check {

/// Return the report as text with a final newline. `format`: "text", "json", "junit" for CI
/// servers, or "github" for annotations of a pull request.
std::string print(const Report& report, const std::string& format);

}  // namespace check
