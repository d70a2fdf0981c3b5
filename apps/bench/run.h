// From the options to the report.
#pragma once

#include <functional>

#include "options.h"
#include "report.h"

namespace bench {

/// Measure the rows that the options choose; `progress` hears of each before it begins.
/// Errors: ambit::Error for a device or peer that there is not, and for a filter without rows.
Report run(const Options& options, const std::function<void(const std::string& row)>& progress);

}  // namespace bench
