// Checks for tests of programs that use ambit: device independence, errors for mixed devices,
// gradients, and behaviour if a device fails. They support doctest, GoogleTest and Catch2, with
// includes in any order; without one of these a failed check throws test::Failure. The functions
// do not depend on a framework: they return a report, empty if there is no error, and the macros
// pass it to the framework.
//   CHECK_DEVICE_MISMATCH(net->forward(x), "cuda:0", "cpu");         // testing/mismatch.h
//   FOR_EACH_DEVICE(device) { ... }                                  // testing/devices.h
//   CHECK_DEVICE_INDEPENDENT([](Device device) { ... return y; });   // testing/independent.h
//   CHECK_GRADIENTS(f, {x, weight});                                 // testing/gradcheck.h
//   test::FailingAllocation fault("sim:0", 3);                    // testing/faults.h
// docs/testing.md has a whole project.
#pragma once

#include <ambit/testing/devices.h>
#include <ambit/testing/faults.h>
#include <ambit/testing/gradcheck.h>
#include <ambit/testing/independent.h>
#include <ambit/testing/mismatch.h>
#include <ambit/testing/report.h>
