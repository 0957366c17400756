#include "runtime/kernel_abi.h"
static volatile int32_t made;
__attribute__((constructor)) static void make(void) { made = 1; }
int32_t farm_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  return made;
}
