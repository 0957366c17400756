#include "runtime/kernel_abi.h"
float expf(float x);
void *memset(void *to, int value, unsigned long bytes);
static float (*const table[])(float) = {expf};
static int32_t counter = 41;
int32_t *counter_address = &counter;
volatile int64_t dividend = -100000000000, divisor = 9999999999;
/* Needs imports, relative relocations, data, zeroed data, and arithmetic that a 32-bit core has no instruction for. */
int32_t farm_run(struct farm_call_context *context, void *const *args) {
  static float zeroed[5000];
  (void)context;
  float *out = args[0];
  memset(out, 0, 4 * sizeof *out);
  ++*counter_address;
  out[0] = table[0](1.0f);
  out[1] = (float)counter;
  out[2] = zeroed[4999];
  out[3] = (float)(dividend / divisor);
  return 0;
}
