// For tests of programs that use ambit: that code is device-independent, that mixed devices are
// refused, that gradients are right, that a failing device does no harm. With doctest, GoogleTest
// and Catch2, in any order of the includes; in other frameworks a failed check throws
// test::Failure. The functions know no framework: they return a report, which is empty where all
// is well, and the macros give it to the framework.
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
