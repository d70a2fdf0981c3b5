// From the options to the report.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "options.h"
#include "report.h"
#include "row.h"

namespace bench {

/// Return whether two sides have done the same work, by their results; see Row::tolerance.
bool agree(double a, double b, double tolerance = 1e-3);

/// Return the rows whose name holds `filter`. Errors: ambit::Error when there are none.
std::vector<Row> chosen_rows(const std::string& filter);

/// Measure the rows that the options choose; `progress` hears of each before it begins.
/// Errors: ambit::Error for a device or peer that there is not, and as chosen_rows.
Report run(const Options& options, const std::function<void(const std::string& row)>& progress);

}  // namespace bench
