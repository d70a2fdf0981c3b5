// Includes all of optim.
#pragma once

#include <ambit/optim/adagrad.h>
#include <ambit/optim/adam.h>
#include <ambit/optim/grad_scaler.h>
#include <ambit/optim/lbfgs.h>
#include <ambit/optim/optimizer.h>
#include <ambit/optim/rmsprop.h>
#include <ambit/optim/schedulers/epoch_lr.h>
#include <ambit/optim/schedulers/lr_scheduler.h>
#include <ambit/optim/schedulers/one_cycle_lr.h>
#include <ambit/optim/schedulers/reduce_lr_on_plateau.h>
#include <ambit/optim/schedulers/sequential_lr.h>
#include <ambit/optim/sgd.h>
