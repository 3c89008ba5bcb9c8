// Functions of the program's own that the library calls: reductions, error handlers, callbacks of
// attributes and of generalized requests. The library is given a function of ours in their place,
// one for each, which calls them; what they take has a cell of its own, and is none of the call's
// that they are called in.
#include "tracer.h"

// Of more functions than these the time is not known.
enum { FUNCTIONS = 64 };
static struct {
  long (*function)(PARAMETERS_6);
  uint16_t kind;
} functions[FUNCTIONS];
static uint32_t known;

/// Calls a function of the program's, and counts what it takes: not what others take that it calls
/// by way of the library.
static long call_own(uint32_t index, PARAMETERS_6) {
  contend_thread* thread = &contend_this_thread;
  uint64_t before = thread->own, start = contend_ticks();
  long result = functions[index].function(ARGUMENTS_6);
  // A thread that has called nothing is the library's own, and what has ended is not recorded.
  if (contend.header == NULL || !thread->known) return result;
  uint64_t end = contend_ticks(), inner = thread->own - before;
  thread->own = thread->inside ? before + (end - start) : 0;
  // A place is looked for before its address, as that of a call is where it returns to.
  contend_call call = {start, end - inner, (uintptr_t)functions[index].function + 1,
                       functions[index].kind};
  contend_lock();
  contend_count(&call, CONTEND_WORLD, 0, 0);
  contend_unlock();
  return result;
}

#define EIGHT(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define EACH(X) \
  EIGHT(X, 0)   \
  EIGHT(X, 01) EIGHT(X, 02) EIGHT(X, 03) EIGHT(X, 04) EIGHT(X, 05) EIGHT(X, 06) EIGHT(X, 07)
#define X(n) \
  static long own_##n(PARAMETERS_6) { return call_own(n, ARGUMENTS_6); }
EACH(X)
#undef X
#define X(n) own_##n,
static long (*const ours[FUNCTIONS])(PARAMETERS_6) = {EACH(X)};

/// What the library is to call instead of a function of the program's; the library's own, and what
/// stands for none, stay as they are.
static long timed(long given, enum contend_own_kind kind) {
  long (*function)(PARAMETERS_6) = (long (*)(PARAMETERS_6))given;
  if (given == 0 || contend_is_own((uintptr_t)given)) return given;
  contend_lock();
  uint32_t index = 0;
  while (index < known && (functions[index].function != function || functions[index].kind != kind))
    index++;
  if (index == known && known < FUNCTIONS) {
    functions[known].function = function;
    functions[known++].kind = (uint16_t)kind;
  }
  contend_unlock();
  return index < FUNCTIONS ? (long)ours[index] : given;
}

#define GIVES(name, count, ...)                                                  \
  long contend_##name(PARAMETERS_##count);                                       \
  long contend_##name(PARAMETERS_##count) {                                      \
    __VA_ARGS__;                                                                 \
    return ((long (*)(PARAMETERS_##count))contend_real[contend_routine_##name])( \
        ARGUMENTS_##count);                                                      \
  }
#define TIMED(argument, kind) argument = timed(argument, CONTEND_OWN_##kind)

GIVES(Op_create, 3, TIMED(a, REDUCTION))
#if CONTEND_BIG_COUNTS
GIVES(Op_create_c, 3, TIMED(a, REDUCTION))
#endif
GIVES(Comm_create_errhandler, 2, TIMED(a, ERROR_HANDLER))
GIVES(Win_create_errhandler, 2, TIMED(a, ERROR_HANDLER))
GIVES(File_create_errhandler, 2, TIMED(a, ERROR_HANDLER))
GIVES(Comm_create_keyval, 4, TIMED(a, CALLBACK), TIMED(b, CALLBACK))
GIVES(Win_create_keyval, 4, TIMED(a, CALLBACK), TIMED(b, CALLBACK))
GIVES(Type_create_keyval, 4, TIMED(a, CALLBACK), TIMED(b, CALLBACK))
GIVES(Grequest_start, 5, TIMED(a, REQUEST), TIMED(b, REQUEST), TIMED(c, REQUEST))
