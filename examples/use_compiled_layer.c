/* Calls a compiled convolution from C: the weights are packed once, then used for many images. */
#include <stdio.h>
#include <stdlib.h>

#include "my_conv.h"

enum { BATCH = 2, IN = 6, HEIGHT = 13, WIDTH = 17, OUT = 20, R = 3, S = 5, P = 7, Q = 17 };

static float data[BATCH * IN * HEIGHT * WIDTH], weight[OUT * IN * R * S], out[BATCH * OUT * P * Q];

static void fill(float *values, int count) {
  for (int i = 0; i < count; ++i) values[i] = (float)(i * 7 % 11) - 5.0f; /* small whole numbers: sums are exact */
}

/* One output pixel, stride 2x1, padding 1x2. */
static float expected(int n, int k, int y, int x) {
  float sum = 0;
  for (int c = 0; c < IN; ++c)
    for (int r = 0; r < R; ++r)
      for (int s = 0; s < S; ++s) {
        int row = 2 * y + r - 1, column = x + s - 2;
        if (row < 0 || row >= HEIGHT || column < 0 || column >= WIDTH) continue;
        sum += data[((n * IN + c) * HEIGHT + row) * WIDTH + column] * weight[((k * IN + c) * R + r) * S + s];
      }
  return sum;
}

static int wrong_pixels(void) {
  int wrong = 0;
  for (int i = 0; i < BATCH * OUT * P * Q; ++i)
    wrong += out[i] != expected(i / (OUT * P * Q), i / (P * Q) % OUT, i / Q % P, i % Q);
  return wrong;
}

int main(void) {
  void *packed = malloc(my_conv_packed_bytes());
  int failed, wrong;
  fill(data, BATCH * IN * HEIGHT * WIDTH);
  fill(weight, OUT * IN * R * S);
  failed = !packed || my_conv_prepack(weight, packed) || my_conv_run(data, packed, out);
  wrong = failed ? 0 : wrong_pixels();
  free(packed);
  printf("my_conv: %s, %d of %d pixels wrong\n", failed ? "failed" : "ran", wrong, BATCH * OUT * P * Q);
  return failed || wrong;
}
