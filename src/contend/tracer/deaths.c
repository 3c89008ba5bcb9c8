// What a rank dies of: a signal that ends processes, or an error that its library does not survive.
// Both are noted when they come, and then go the way that they would have gone anyhow.
//
// Most that die do so in a library, of what the program gave it: the calls that led there are
// found by unwinding. A stack that the program has spoiled may fault meanwhile, so that the
// handler comes back to where it began to unwind. A stack that is full leaves no room for a
// handler, so the thread that begins MPI gets another for them, unless it has one.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "tracer.h"

enum { STACK = 256 << 10 };
// Not what batch systems send all ranks at a time.
static const int signals[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT, SIGSYS,
                              SIGTRAP, SIGPIPE, SIGXCPU, SIGXFSZ, SIGTERM, SIGALRM};
static struct sigaction before[NSIG];
static CONTEND_OF_THREAD sigjmp_buf* unwinding;

/// Where a thread was, and what a function that had just begun there would return to.
typedef struct {
  uint64_t at, behind;
  bool seen;
  int count;
  uint64_t* calls;
} search;

static search begin(const void* context, uint64_t* calls) {
#if defined(__x86_64__)
  const greg_t* registers = ((const ucontext_t*)context)->uc_mcontext.gregs;
  return (search){(uint64_t)registers[REG_RIP], (uint64_t)registers[REG_RSP], .calls = calls};
#elif defined(__aarch64__)
  const mcontext_t* machine = &((const ucontext_t*)context)->uc_mcontext;
  return (search){machine->pc, machine->regs[30], .calls = calls};
#else
  (void)context;
  return (search){.calls = calls};
#endif
}

static _Unwind_Reason_Code step(struct _Unwind_Context* context, void* argument) {
  search* found = argument;
  uint64_t address = _Unwind_GetIP(context);
  if (found->seen) found->calls[found->count++] = address;
  // The handler's own frames come first.
  if (address == found->at) found->seen = true;
  return found->count == CONTEND_DEATH_CALLS ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/// Finds the calls that led to a signal, as far as the stack tells.
static void follow(search* found) {
  sigset_t faults, usual;
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  sigaddset(&faults, SIGBUS);
  pthread_sigmask(SIG_UNBLOCK, &faults, &usual);
  sigjmp_buf back;
  if (sigsetjmp(back, 1) == 0) {
    unwinding = &back;
    _Unwind_Backtrace(step, found);
    // From a jump to no code nothing can be unwound.
    if (found->count == 0)
#if defined(__x86_64__)
      found->calls[0] = *(const uint64_t*)found->behind;
#else
      found->calls[0] = found->behind;
#endif
  }
  unwinding = NULL;
  pthread_sigmask(SIG_SETMASK, &usual, NULL);
}

/// Notes the beginning of an end. What ends a thread by itself, as a handler's call of abort() does
/// after a fault, is not what it died of.
///
/// Args:
///   info, context: of the signal; NULL for an error.
static void note(uint32_t signal, const siginfo_t* info, const void* context, const char* error) {
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
    header->died = contend_ticks();
    header->signal = signal;
    header->died_at = 0;
    snprintf(header->error, sizeof header->error, "%s", error);
    memset(header->died_by, 0, sizeof header->died_by);
    if (context != NULL) {
      search found = begin(context, header->died_by);
      bool no_code = signal == SIGSEGV && info->si_code > 0 && (uint64_t)info->si_addr == found.at;
      if (!no_code) header->died_at = found.at + 1;
      follow(&found);
      header->died_line =
          (uint32_t)contend_line_in_python(header->died_file, sizeof header->died_file);
    }
  }
  atomic_flag_clear_explicit(&noting, memory_order_release);
}

/// Whether the instruction that faulted does so again.
static bool comes_again(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
}

/// Whether somebody else ends this process, as a launcher does with all ranks when one has died.
static bool is_told_to_end(const siginfo_t* info) {
  bool sent = info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE;
  return info->si_signo == SIGTERM && sent && info->si_pid != getpid();
}

static void caught(int signal, siginfo_t* info, void* context) {
  if (unwinding != NULL) siglongjmp(*unwinding, 1);
  const struct sigaction* then = &before[signal];
  contend_header* header = contend.header;
  if (!is_told_to_end(info))
    note((uint32_t)signal, info, context, "");
  else if (header != NULL && header->pid == getpid() && header->told == 0)
    header->told = contend_ticks();
  bool plain = !(then->sa_flags & SA_SIGINFO) && then->sa_handler == SIG_DFL;
  if (plain || then->sa_flags & (int)SA_RESETHAND) {
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(signal, &usual, NULL);
  }
  if (then->sa_flags & SA_SIGINFO)
    then->sa_sigaction(signal, info, context);
  else if (!plain)
    then->sa_handler(signal);
  else if (info->si_code <= 0 || !comes_again(signal))
    raise(signal);
}

void contend_watch_for_deaths(void) {
  stack_t stack = {.ss_flags = 0};
  if (sigaltstack(NULL, &stack) == 0 && stack.ss_flags & SS_DISABLE) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
    void* room = mmap(NULL, STACK, PROT_READ | PROT_WRITE, flags, -1, 0);
    stack = (stack_t){.ss_sp = room, .ss_size = STACK};
    if (room != MAP_FAILED) sigaltstack(&stack, NULL);
  }
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
                          CLASS(SERVICE) CLASS(NAME) CLASS(INFO) CLASS(KEYVAL) CLASS(FILE)
                              CLASS(NOT_SAME) CLASS(AMODE) CLASS(NO_SUCH_FILE) CLASS(FILE_EXISTS)
                                  CLASS(BAD_FILE) CLASS(ACCESS) CLASS(NO_SPACE) CLASS(QUOTA)
                                      CLASS(READ_ONLY) CLASS(FILE_IN_USE) CLASS(IO)
                                          CLASS(UNSUPPORTED_OPERATION)
#undef CLASS
  };
  for (size_t index = 0; index < sizeof classes / sizeof *classes; index++)
    if (classes[index].class == class) return classes[index].name;
  return "an error of MPI";
}

bool contend_was_cut(int result) {
  int class = result;
  if (result == MPI_SUCCESS) return false;
  ((int (*)(int, int*))contend_symbol("PMPI_Error_class"))(result, &class);
  return class == MPI_ERR_TRUNCATE;
}

void contend_note_error(int code) {
  if (contend.header == NULL || !contend_this_thread.inside) return;
  int class = code;
  ((int (*)(int, int*))contend_symbol("PMPI_Error_class"))(code, &class);
  const contend_under_way* at = contend_this_thread.under_way;
  contend_header* header = contend.header;
  if (__atomic_fetch_add(&header->errors, 1, __ATOMIC_RELAXED) == 0) {
    header->error_routine = at->routine;
    header->error_site = at->site;
    snprintf(header->first_error, sizeof header->first_error, "%s", name_of(class));
  }
  note(0, NULL, NULL, name_of(class));
}

// Whatever handles an error, libraries come by here with it first; but MPICH's files do not.
#define HANDLES(name, parameters, arguments)                    \
  __attribute__((visibility("default"))) int name parameters;   \
  int name parameters {                                         \
    contend_note_error(code);                                   \
    return ((int(*) parameters)contend_symbol(#name))arguments; \
  }
#ifdef OPEN_MPI
HANDLES(ompi_errhandler_invoke, (void* handler, void* object, int type, int code, const char* name),
        (handler, object, type, code, name))
#else
HANDLES(MPIR_Err_return_comm, (void* communicator, const char* name, int code),
        (communicator, name, code))
HANDLES(MPIR_Err_return_win, (void* window, const char* name, int code), (window, name, code))
#endif
