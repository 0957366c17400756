// Door of the room `tuning_db`: every measurement, kept.
#pragma once
#include "tuning_db/record.h"
#include "tuning_db/store.h"
