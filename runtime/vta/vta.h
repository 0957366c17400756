// Door of the sub-room `runtime/vta`: the device half of the accelerator. Needs neither LLVM nor JSON.
#pragma once
#include "runtime/vta/isa.h"
#include "runtime/vta/program.h"
#include "runtime/vta/simulator.h"
#include "runtime/vta/timing.h"
