// Includes all of optim.
#pragma once

#include <ambit/optim/adadelta.h>
#include <ambit/optim/adagrad.h>
#include <ambit/optim/adam.h>
#include <ambit/optim/adamax.h>
#include <ambit/optim/asgd.h>
#include <ambit/optim/fused_backward.h>
#include <ambit/optim/grad_scaler.h>
#include <ambit/optim/lbfgs.h>
#include <ambit/optim/muon.h>
#include <ambit/optim/nadam.h>
#include <ambit/optim/optimizer.h>
#include <ambit/optim/radam.h>
#include <ambit/optim/rmsprop.h>
#include <ambit/optim/rprop.h>
#include <ambit/optim/schedulers/epoch_lr.h>
#include <ambit/optim/schedulers/lr_scheduler.h>
#include <ambit/optim/schedulers/one_cycle_lr.h>
#include <ambit/optim/schedulers/reduce_lr_on_plateau.h>
#include <ambit/optim/schedulers/sequential_lr.h>
#include <ambit/optim/sgd.h>
