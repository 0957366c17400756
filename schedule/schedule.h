// Door of the room `schedule`: how a task is computed.
#pragma once
#include "schedule/interpreter.h"
#include "schedule/loop_nest.h"
#include "schedule/space.h"
