// From the options to the report.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "options.h"
#include "report.h"
#include "row.h"

namespace bench {

/// Return whether two sides have done the same work: they add in different orders, which moves a
/// sum or a loss of float32 by a millionth; another work moves it by more than a thousandth.
bool agree(double a, double b);

/// Return the rows whose name holds `filter`. Errors: ambit::Error when there are none.
std::vector<Row> chosen_rows(const std::string& filter);

/// Measure the rows that the options choose; `progress` hears of each before it begins.
/// Errors: ambit::Error for a device or peer that there is not, and as chosen_rows.
Report run(const Options& options, const std::function<void(const std::string& row)>& progress);

}  // namespace bench
