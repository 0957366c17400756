#include "runtime/kernel_abi.h"
float expf(float x);
void *memset(void *to, int value, unsigned long bytes);
static float (*const table[])(float) = {expf};
static int32_t counter = 41;
int32_t *counter_address = &counter;
/* Needs imports, relative relocations, data and zeroed data. */
int32_t farm_run(struct farm_call_context *context, void *const *args) {
  static float zeroed[5000];
  (void)context;
  float *out = args[0];
  memset(out, 0, 4 * sizeof *out);
  ++*counter_address;
  out[0] = table[0](1.0f);
  out[1] = (float)counter;
  out[2] = zeroed[4999];
  return 0;
}
