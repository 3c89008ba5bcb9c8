/* Preloaded: makes CLOCK_MONOTONIC run faster by TRIAL_DRIFT, from the instant TRIAL_SINCE on. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec* time) {
  static int (*real)(clockid_t, struct timespec*) = 0;
  static double drift = 0.0;
  static double since = 0.0;
  if (real == 0) {
    const char* text = getenv("TRIAL_DRIFT");
    drift = text == 0 ? 0.0 : atof(text);
    text = getenv("TRIAL_SINCE");
    since = text == 0 ? 0.0 : atof(text);
    real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  }
  const int status = real(clock, time);
  if (status == 0 && clock == CLOCK_MONOTONIC && drift != 0.0) {
    const double passed = (double)time->tv_sec + (double)time->tv_nsec * 1e-9 - since;
    const long long shown =
        time->tv_sec * 1000000000LL + time->tv_nsec + (long long)(passed * drift * 1e9);
    time->tv_sec = (time_t)(shown / 1000000000LL);
    time->tv_nsec = (long)(shown % 1000000000LL);
  }
  return status;
}
