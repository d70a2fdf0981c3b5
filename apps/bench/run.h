// Runs the bench and returns the report.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "options.h"
#include "report.h"
#include "row.h"

namespace bench {

/// Return whether two results are equal within the tolerance, see Row::tolerance.
bool agree(double a, double b, double tolerance = 1e-3);

/// Return the rows whose name contains `filter`. Errors: ambit::Error if there are none.
std::vector<Row> chosen_rows(const std::string& filter);

/// Measure the selected rows; `progress` is called before each. Errors: ambit::Error for a device
/// or peer that does not exist; those of chosen_rows.
Report run(const Options& options, const std::function<void(const std::string& row)>& progress);

}  // namespace bench
