// Door of the room `runtime`: what a built kernel is, how a device runs it, how a run is timed.
#pragma once
#include "runtime/artifact.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/device.h"
#include "runtime/encoding.h"
#include "runtime/kernel_abi.h"
#include "runtime/measurement.h"
