// What a rank dies of: a signal that ends processes, or an error that its library does not survive.
// Both are noted when they come, and then go the way that they would have gone anyhow.
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "tracer.h"

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
static struct sigaction before[NSIG];

static uint64_t place_of(const void* context) {
#if defined(__x86_64__)
  return (uint64_t)((const ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] + 1;
#elif defined(__aarch64__)
  return (uint64_t)((const ucontext_t*)context)->uc_mcontext.pc + 1;
#else
  (void)context;
  return 0;
#endif
}

/// Notes the beginning of an end. What ends a thread by itself, as a handler's call of abort() does
/// after a fault, is not what it died of.
static void note(uint32_t signal, uint64_t place, const char* error) {
  contend_header* header = contend.header;
  const contend_thread* thread = &contend_this_thread;
  if (header == NULL || header->pid != getpid()) return;
  // One at a time: of two that come together either may be what the process ends of.
  static atomic_flag noting = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set_explicit(&noting, memory_order_acquire)) return;
  uint32_t number = thread->known ? thread->number : UINT32_MAX;
  const contend_under_way* at = thread->known ? thread->under_way : NULL;
  bool goes_on = at && header->died && at->start <= header->died && at->left <= header->died;
  if (header->died_thread != number || !goes_on) {
    header->died_thread = number;
    header->signal = signal;
    header->died_at = place;
    snprintf(header->error, sizeof header->error, "%s", error);
    header->died = contend_ticks();
  }
  atomic_flag_clear_explicit(&noting, memory_order_release);
}

static void caught(int signal, siginfo_t* info, void* context) {
  const struct sigaction* then = &before[signal];
  note((uint32_t)signal, place_of(context), "");
  bool plain = !(then->sa_flags & SA_SIGINFO) && then->sa_handler == SIG_DFL;
  if (plain || then->sa_flags & (int)SA_RESETHAND) {
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(signal, &usual, NULL);
  }
  if (then->sa_flags & SA_SIGINFO)
    then->sa_sigaction(signal, info, context);
  else if (!plain)
    then->sa_handler(signal);
  else if (info->si_code <= 0)
    raise(signal);  // A fault comes again by itself.
}

void contend_watch_for_deaths(void) {
  for (size_t index = 0; index < sizeof signals / sizeof *signals; index++) {
    int signal = signals[index];
    if (sigaction(signal, NULL, &before[signal])) continue;
    if (!(before[signal].sa_flags & SA_SIGINFO) && before[signal].sa_handler == SIG_IGN) continue;
    struct sigaction ours = before[signal];
    ours.sa_sigaction = caught;
    ours.sa_flags = (ours.sa_flags | SA_SIGINFO | SA_ONSTACK) & ~(int)SA_RESETHAND;
    sigaction(signal, &ours, NULL);
  }
}

/// What MPI calls the class of an error.
static const char* name_of(int class) {
  static const struct {
    int class;
    const char* name;
  } classes[] = {
#define CLASS(name) {MPI_ERR_##name, "MPI_ERR_" #name},
      CLASS(BUFFER) CLASS(COUNT) CLASS(TYPE) CLASS(TAG) CLASS(COMM) CLASS(RANK) CLASS(REQUEST)
          CLASS(ROOT) CLASS(GROUP) CLASS(OP) CLASS(TOPOLOGY) CLASS(DIMS) CLASS(ARG) CLASS(UNKNOWN)
              CLASS(TRUNCATE) CLASS(OTHER) CLASS(INTERN) CLASS(IN_STATUS) CLASS(PENDING)
                  CLASS(NO_MEM) CLASS(WIN) CLASS(RMA_SYNC) CLASS(RMA_RANGE) CLASS(RMA_CONFLICT)
                      CLASS(LOCKTYPE) CLASS(DISP) CLASS(SIZE) CLASS(ASSERT) CLASS(SPAWN) CLASS(PORT)
                          CLASS(SERVICE) CLASS(NAME) CLASS(INFO)
#undef CLASS
  };
  for (size_t index = 0; index < sizeof classes / sizeof *classes; index++)
    if (classes[index].class == class) return classes[index].name;
  return "an error of MPI";
}

static void note_error(int code) {
  if (contend.header == NULL || !contend_this_thread.inside) return;
  int class = code;
  ((int (*)(int, int*))contend_symbol("PMPI_Error_class"))(code, &class);
  note(0, 0, name_of(class));
}

// Whatever handles an error, libraries come by here with it first.
#ifdef OPEN_MPI
#define HANDLES ompi_errhandler_invoke
#define PARAMETERS (void* handler, void* object, int type, int code, const char* name)
#define ARGUMENTS (handler, object, type, code, name)
#else
#define HANDLES MPIR_Err_return_comm
#define PARAMETERS (void* communicator, const char* name, int code)
#define ARGUMENTS (communicator, name, code)
#endif
#define TEXT(name) TEXT_OF(name)
#define TEXT_OF(name) #name
__attribute__((visibility("default"))) int HANDLES PARAMETERS;
int HANDLES PARAMETERS {
  note_error(code);
  return ((int(*) PARAMETERS)contend_symbol(TEXT(HANDLES)))ARGUMENTS;
}
