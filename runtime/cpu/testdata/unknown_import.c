#include "runtime/kernel_abi.h"
int puts(const char *text);
int32_t farm_run(struct farm_call_context *context, void *const *args) {
  (void)context, (void)args;
  return puts("hello");
}
