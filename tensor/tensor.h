// Door of the room `tensor`: what is computed.
#pragma once
#include "tensor/compute.h"
#include "tensor/expr.h"
#include "tensor/task.h"
