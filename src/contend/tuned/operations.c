// Nonblocking and persistent all-to-alls. A schedule's next phase begins when the program waits or
// tests for anything, so its messages wait for each other as in a blocking call. Before the program
// waits in the library for something else, all messages that are left are begun at once: from then
// on the library brings them to their end without us, as others may be waiting for them.
//
// The program's request is one of the library's own, for an empty message of this rank to itself on
// a communicator of its own, that is sent when the operation has ended. So all routines for
// requests take it, alone or among others. An operation that has failed sends a byte that the
// request has no room for, so that the library itself ends the request with an error, wherever the
// program waits for it; then the handler of the program's communicator is called.
//
// No handler is called with the lock held, as it may call MPI.
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tuned.h"

// Nobody looks at operations for so long where the program computes instead of calling MPI.
static const int64_t LONG_NS = 100000000;

// MPICH does not tell the errors of nonblocking all-to-alls.
#ifdef OPEN_MPI
#define TELLS_ERRORS true
#else
#define TELLS_ERRORS false
#endif

typedef struct operation {
  contend_blocks blocks;
  contend_members* members;
  const contend_plan* plan;
  MPI_Comm user;
  MPI_Request* requests;  ///< of the phases that have begun and not ended
  int under_way;          ///< how many of them
  int phase;              ///< that begins next
  int to, from;           ///< messages begun
  int tag;
  int stand_in;                 ///< tag of the empty message
  int error;                    ///< the first
  int64_t looked_ns, since_ns;  ///< when it was looked at last, and first or after a long time
  MPI_Request request;
  bool persistent, active, unwanted;
  struct operation *next, *next_persistent;
} operation;

/// An operation that has failed, until the program hears of it.
typedef struct failure {
  MPI_Request request;
  MPI_Comm user;
  contend_members* members;
  operation* persistent;  ///< NULL for none
  int error;
  struct failure* next;
} failure;

int contend_live;
static operation *live, *persistent;
static operation** live_end = &live;
static failure* failures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Comm self;
static bool has_self;
// Tags of empty messages: those that were given back, and those that were never taken.
static int *spare, spares, room_for_spares, next_stand_in, most_stand_ins = 32767;
static int64_t stood_ns, waited_ns, ended_ns;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void contend_start_operations(void) {
  int* most = NULL;
  int there = 0;
  if (contend_library.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &there) == MPI_SUCCESS &&
      there && *most > most_stand_ins)
    most_stand_ins = *most;
  has_self = REAL(Comm_split)(MPI_COMM_SELF, 0, 0, &self) == MPI_SUCCESS;
  if (has_self) contend_library.Comm_set_errhandler(self, MPI_ERRORS_RETURN);
}

/// A tag for an empty message; -1 when there are no more. With the lock held.
static int take_stand_in(void) {
  if (spares) return spare[--spares];
  if (next_stand_in == most_stand_ins) return -1;
  // All that are taken must have room when they are given back.
  if (next_stand_in == room_for_spares) {
    int* more = contend_room(2 * (size_t)(room_for_spares + 64) * sizeof *more);
    free(spare);
    spare = more;
    room_for_spares = 2 * (room_for_spares + 64);
  }
  return next_stand_in++;
}

static void free_operation(operation* ended) {
  contend_free_packed(&ended->blocks);
  contend_free_kept(&ended->blocks, ended->members->size);
  if (ended->stand_in >= 0) spare[spares++] = ended->stand_in;
  contend_release_members(ended->members);
  free(ended->requests);
  free(ended);
}

/// Begins the messages to these peers, or from them, up to the last of a phase.
static void begin_messages(operation* running, bool sends, const int* peers, int* at, int end) {
  for (; *at < end; ++*at) {
    MPI_Request* request = &running->requests[running->under_way];
    int error = contend_begin_message(&running->blocks, running->members, sends, peers[*at],
                                      running->tag, request);
    contend_note(&running->error, error);
    if (!error && *request != MPI_REQUEST_NULL) running->under_way++;
  }
}

static void begin_phase(operation* running) {
  const contend_plan* plan = running->plan;
  int phase = running->phase++;
  begin_messages(running, false, plan->from, &running->from, plan->from_end[phase]);
  begin_messages(running, true, plan->to, &running->to, plan->to_end[phase]);
}

static void add_failure(operation* failed) {
  failure* made = contend_room(sizeof *made);
  *made = (failure){.request = failed->request,
                    .user = failed->user,
                    .members = failed->members,
                    .persistent = failed->persistent ? failed : NULL,
                    .error = failed->error,
                    .next = failures};
  __atomic_add_fetch(&failed->members->references, 1, __ATOMIC_ACQ_REL);
  __atomic_store_n(&failures, made, __ATOMIC_RELEASE);
}

/// Completes the program's request.
static void complete(operation* ended) {
  bool fails = TELLS_ERRORS && ended->error && !ended->unwanted;
  if (fails) add_failure(ended);
  REAL(Send)("", fails, MPI_BYTE, 0, ended->stand_in, self);
  ended->active = false;
  if (!ended->persistent || ended->unwanted) free_operation(ended);
}

/// Goes on with an operation as far as it goes without waiting; whether it has ended. After an
/// error it goes on, as other ranks wait for the messages.
static bool advance(operation* running) {
  for (;;) {
    // One by one: MPI_Testall of MPICH 4.0 looks at requests that have not ended, too.
    while (running->under_way) {
      int ended = 0;
      MPI_Request* last = &running->requests[running->under_way - 1];
      int error = REAL(Test)(last, &ended, MPI_STATUS_IGNORE);
      contend_note(&running->error, error);
      if (!error && !ended) return false;
      running->under_way--;
    }
    if (running->phase == running->plan->phases) return true;
    begin_phase(running);
  }
}

/// Goes on with all operations. With the lock held.
static void advance_all(void) {
  operation** at = &live;
  int64_t now = now_ns(), stood = 0;
  contend_silence silence = contend_hush();
  while (*at) {
    operation* running = *at;
    int64_t alone = now - running->looked_ns;
    int phase = running->phase;
    bool has_ended = advance(running);
    if (alone > LONG_NS) running->since_ns = now;
    // What stands still is a phase that could have begun.
    if (alone > LONG_NS && running->phase > phase && alone > stood) stood = alone;
    running->looked_ns = now;
    if (!has_ended) {
      at = &running->next;
      continue;
    }
    *at = running->next;
    if (live_end == &running->next) live_end = at;
    __atomic_sub_fetch(&contend_live, 1, __ATOMIC_ACQ_REL);
    // Of operations side by side the time counts once.
    waited_ns += now - (running->since_ns > ended_ns ? running->since_ns : ended_ns);
    ended_ns = now;
    complete(running);
  }
  stood_ns += stood;
  contend_speak(silence);
}

/// Begins all messages that are left. With the lock held.
static void begin_all(void) {
  advance_all();
  for (operation* running = live; running; running = running->next)
    while (running->phase < running->plan->phases) begin_phase(running);
}

static void go_on(void) {
  // Who has the lock goes on for all.
  if (pthread_mutex_trylock(&lock)) return;
  advance_all();
  pthread_mutex_unlock(&lock);
}

void contend_release_slowly(void) {
  pthread_mutex_lock(&lock);
  begin_all();
  pthread_mutex_unlock(&lock);
}

/// Begins an operation's messages. With the lock held.
static void start(operation* begun) {
  begun->looked_ns = begun->since_ns = now_ns();
  begun->phase = begun->to = begun->from = begun->under_way = 0;
  begun->error =
      begun->blocks.in_place ? contend_pack(&begun->blocks, begun->members) : MPI_SUCCESS;
  contend_note(&begun->error, contend_copy_own(&begun->blocks, begun->members, begun->tag));
  begun->active = true;
  // Those that began first go on first.
  begun->next = NULL;
  *live_end = begun;
  live_end = &begun->next;
  __atomic_add_fetch(&contend_live, 1, __ATOMIC_ACQ_REL);
  begin_phase(begun);
}

static operation* new_operation(contend_blocks* blocks, contend_members* members,
                                const contend_plan* plan, MPI_Comm comm) {
  operation* made = contend_room(sizeof *made);
  *made = (operation){
      .blocks = *blocks, .members = members, .plan = plan, .user = comm, .stand_in = -1};
  made->requests = contend_room(2 * (size_t)members->size * sizeof *made->requests);
  __atomic_add_fetch(&members->references, 1, __ATOMIC_ACQ_REL);
  if (contend_keep(&made->blocks, members->size) == MPI_SUCCESS) return made;
  // What could not be copied may be the program's, so that nothing is freed.
  contend_release_members(members);
  free(made->requests);
  free(made);
  return NULL;
}

/// A nonblocking call's tag. Tags come again, and messages of one tag meet in the order in which
/// they begin, which is that of the calls on all ranks: whoever had a tag before has begun all
/// its messages. With the lock held.
static int next_tag(contend_members* members) {
  if (members->begun % (CONTEND_TAGS / 2) == 0) begin_all();
  return CONTEND_FIRST_TAG + (int)(members->begun++ % CONTEND_TAGS);
}

int contend_begin(contend_blocks* blocks, contend_members* members, const contend_plan* plan,
                  MPI_Comm comm, MPI_Request* request) {
  operation* made = new_operation(blocks, members, plan, comm);
  if (made == NULL) return contend_fail(comm, MPI_ERR_TYPE);
  contend_watch();
  pthread_mutex_lock(&lock);
  made->stand_in = take_stand_in();
  made->tag = next_tag(members);
  int result = made->stand_in < 0
                   ? MPI_ERR_NO_MEM
                   : REAL(Irecv)(NULL, 0, MPI_BYTE, 0, made->stand_in, self, request);
  if (!result) {
    made->request = *request;
    start(made);
  }
  pthread_mutex_unlock(&lock);
  // Another thread may be in the library already, and others wait for what it waits for.
  if (contend_many_threads) contend_release();
  return result ? contend_fail(comm, result) : MPI_SUCCESS;
}

int contend_make_persistent(contend_blocks* blocks, contend_members* members,
                            const contend_plan* plan, MPI_Comm comm, MPI_Request* request) {
  operation* made = new_operation(blocks, members, plan, comm);
  if (made == NULL) return contend_fail(comm, MPI_ERR_TYPE);
  contend_watch();
  pthread_mutex_lock(&lock);
  made->stand_in = take_stand_in();
  made->tag = CONTEND_FIRST_PERSISTENT_TAG + (int)members->persistent++;
  made->persistent = true;
  int result = made->stand_in < 0
                   ? MPI_ERR_NO_MEM
                   : REAL(Recv_init)(NULL, 0, MPI_BYTE, 0, made->stand_in, self, request);
  if (!result) {
    made->request = *request;
    made->next_persistent = persistent;
    __atomic_store_n(&persistent, made, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
  return result ? contend_fail(comm, result) : MPI_SUCCESS;
}

/// Says how long operations stood still on one rank while that may have kept any waiting.
static void tell_of_standing(void) {
  double own[2] = {(double)stood_ns * 1e-9, (double)waited_ns * 1e-9}, most[2] = {0, 0};
  int rank = 0;
  REAL(Reduce)(own, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  contend_library.Comm_rank(MPI_COMM_WORLD, &rank);
  double lost = most[0] < most[1] ? most[0] : most[1];
  if (rank == 0 && lost > (double)LONG_NS * 1e-9)
    fprintf(stderr,
            "contend: ranks waited up to %.2g s for nonblocking all-to-alls that stood still while "
            "the program did not call MPI: call MPI_Test now and then meanwhile, or set "
            "nonblocking = false in rules.toml\n",
            lost);
}

void contend_end_operations(void) {
  contend_release();
  if (contend_rules.nonblocking) tell_of_standing();
  if (has_self) REAL(Comm_free)(&self);
  has_self = false;
}

/// The persistent operation of a request; NULL for none. With the lock held.
static operation* find(MPI_Request request) {
  operation* at = persistent;
  while (at && at->request != request) at = at->next_persistent;
  return at;
}

int contend_Start(MPI_Request* request) {
  pthread_mutex_lock(&lock);
  int result = REAL(Start)(request);
  operation* started = result ? NULL : find(*request);
  if (started) start(started);
  pthread_mutex_unlock(&lock);
  if (contend_many_threads) contend_release();
  return result;
}

int contend_Startall(int count, MPI_Request requests[]) {
  int result = MPI_SUCCESS;
  if (__atomic_load_n(&persistent, __ATOMIC_ACQUIRE) == NULL)
    return REAL(Startall)(count, requests);
  for (int index = 0; !result && index < count; index++) result = contend_Start(&requests[index]);
  return result;
}

/// Takes a persistent operation away. With the lock held.
static void discard(operation* freed) {
  operation** at = &persistent;
  while (*at != freed) at = &(*at)->next_persistent;
  __atomic_store_n(at, freed->next_persistent, __ATOMIC_RELEASE);
  freed->unwanted = true;
  if (!freed->active) free_operation(freed);
}

/// The failure of a request, taken from the list; NULL for none. With the lock held.
static failure* take_failure(MPI_Request request) {
  failure** at = &failures;
  while (*at && (*at)->request != request) at = &(*at)->next;
  failure* taken = *at;
  if (taken) __atomic_store_n(at, taken->next, __ATOMIC_RELEASE);
  return taken;
}

static void free_failure(failure* ended) {
  contend_release_members(ended->members);
  free(ended);
}

int contend_Request_free(MPI_Request* request) {
  pthread_mutex_lock(&lock);
  operation* freed = request ? find(*request) : NULL;
  failure* failed = request ? take_failure(*request) : NULL;
  if (failed) free_failure(failed);
  if (freed) discard(freed);
  int result = REAL(Request_free)(request);
  pthread_mutex_unlock(&lock);
  return result;
}

/// Calls the handlers of operations whose requests have ended with an error; `before` are these
/// requests as they were.
static int tell(int result, int count, MPI_Request requests[], const MPI_Request before[]) {
  for (int index = 0; index < count; index++) {
    if (before[index] == MPI_REQUEST_NULL) continue;
    pthread_mutex_lock(&lock);
    bool gone = requests[index] == MPI_REQUEST_NULL;
    failure* failed = gone || find(before[index]) ? take_failure(before[index]) : NULL;
    if (failed && failed->persistent && gone) discard(failed->persistent);
    pthread_mutex_unlock(&lock);
    if (failed == NULL) continue;
    bool freed = __atomic_load_n(&failed->members->freed, __ATOMIC_ACQUIRE);
    MPI_Comm comm = freed ? MPI_COMM_WORLD : failed->user;
    if (count == 1) result = failed->error;
    free_failure(failed);
    contend_fail(comm, result);
    break;
  }
  return result;
}

#define FEW 32
/// Requests as they are before a call that may end them; NULL where none of them can fail.
static MPI_Request* remember(int count, const MPI_Request requests[], MPI_Request few[FEW]) {
  bool may_fail = TELLS_ERRORS && requests && count > 0 &&
                  (__atomic_load_n(&contend_live, __ATOMIC_ACQUIRE) ||
                   __atomic_load_n(&failures, __ATOMIC_ACQUIRE));
  if (!may_fail) return NULL;
  size_t bytes = (size_t)count * sizeof *few;
  return memcpy(count <= FEW ? few : contend_room(bytes), requests, bytes);
}

#define TELLING(count, requests, call)                                  \
  MPI_Request few[FEW];                                                 \
  MPI_Request* before = remember(count, requests, few);                 \
  int result = (call);                                                  \
  if (before && result && __atomic_load_n(&failures, __ATOMIC_ACQUIRE)) \
    result = tell(result, count, requests, before);                     \
  if (before != few) free(before);                                      \
  return result;

// Whoever waits while operations are under way asks again and again instead, and goes on with them
// in between.
#define UNTIL_ENDED(waits, asks, ended)                                    \
  for (;;) {                                                               \
    if (!__atomic_load_n(&contend_live, __ATOMIC_ACQUIRE)) return (waits); \
    go_on();                                                               \
    int result = (asks);                                                   \
    if (result || (ended)) return result;                                  \
    sched_yield();                                                         \
  }

static int wait_for(MPI_Request* request, MPI_Status* status) {
  int flag = 0;
  UNTIL_ENDED(REAL(Wait)(request, status), REAL(Test)(request, &flag, status), flag)
}

/// Whether all requests have ended, which leaves them as they are: MPI_Testall of MPICH 4.0 takes
/// requests that have not ended for failed ones.
static bool all_ended(int count, MPI_Request requests[]) {
  // A call without requests is for the library to judge.
  for (int index = 0; requests && index < count; index++) {
    int flag = 0;
    if (REAL(Request_get_status)(requests[index], &flag, MPI_STATUS_IGNORE)) return true;
    if (!flag) return false;
  }
  return true;
}

static int wait_for_all(int count, MPI_Request requests[], MPI_Status statuses[]) {
  while (__atomic_load_n(&contend_live, __ATOMIC_ACQUIRE)) {
    go_on();
    if (all_ended(count, requests)) break;
    sched_yield();
  }
  return REAL(Waitall)(count, requests, statuses);
}

static int wait_for_any(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  int flag = 0;
  UNTIL_ENDED(REAL(Waitany)(count, requests, index, status),
              REAL(Testany)(count, requests, index, &flag, status), flag)
}

static int wait_for_some(int count, MPI_Request requests[], int* ended, int indices[],
                         MPI_Status statuses[]) {
  UNTIL_ENDED(REAL(Waitsome)(count, requests, ended, indices, statuses),
              REAL(Testsome)(count, requests, ended, indices, statuses), *ended != 0)
}

int contend_Wait(MPI_Request* request, MPI_Status* status) {
  TELLING(1, request, wait_for(request, status))
}

int contend_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  TELLING(count, requests, wait_for_all(count, requests, statuses))
}

int contend_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  TELLING(count, requests, wait_for_any(count, requests, index, status))
}

int contend_Waitsome(int count, MPI_Request requests[], int* ended, int indices[],
                     MPI_Status statuses[]){
    TELLING(count, requests, wait_for_some(count, requests, ended, indices, statuses))}
#define GOING_ON \
  if (__atomic_load_n(&contend_live, __ATOMIC_ACQUIRE)) go_on()

int contend_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  GOING_ON;
  TELLING(1, request, REAL(Test)(request, flag, status))
}

int contend_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  GOING_ON;
  if (flag && !all_ended(count, requests)) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  TELLING(count, requests, REAL(Testall)(count, requests, flag, statuses))
}

int contend_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  GOING_ON;
  TELLING(count, requests, REAL(Testany)(count, requests, index, flag, status))
}

int contend_Testsome(int count, MPI_Request requests[], int* ended, int indices[],
                     MPI_Status statuses[]) {
  GOING_ON;
  TELLING(count, requests, REAL(Testsome)(count, requests, ended, indices, statuses))
}

int contend_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  GOING_ON;
  return REAL(Request_get_status)(request, flag, status);
}
