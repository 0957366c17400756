// Door of the room `tuner`: the loop that proposes, builds, measures, stores and learns.
#pragma once
#include "tuner/build_pool.h"
#include "tuner/build_worker.h"
#include "tuner/farm_runner.h"
#include "tuner/strategy.h"
#include "tuner/tuning_loop.h"
