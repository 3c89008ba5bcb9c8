// Nonblocking and persistent all-to-alls. A schedule's next phase begins when the program waits or
// tests for anything, so its messages wait for each other as in a blocking call. Before the program
// waits in the library for something else, all messages that are left are begun at once: from then
// on the library brings them to their end without us, as others may be waiting for them.
//
// The program's request is one of the library's own, for an empty message of this rank to itself on
// a communicator of its own, that is sent when the operation has ended. So all routines for
// requests take it, alone or among others.
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "tuned.h"

// Tags that every library has.
#define MOST_STAND_INS 32767

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
  int stand_in;         ///< tag of the empty message
  MPI_Request request;  ///< of a persistent one
  bool persistent, active, unwanted;
  struct operation *next, *next_persistent;
} operation;

int contend_live;
static operation *live, *persistent;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Comm self;
static bool has_self;
static unsigned char taken[MOST_STAND_INS];
static int last_taken = -1;

/// A tag for an empty message; -1 when there are no more. With the lock held.
static int take_stand_in(void) {
  for (int tries = 0; tries < MOST_STAND_INS; tries++) {
    last_taken = (last_taken + 1) % MOST_STAND_INS;
    if (taken[last_taken]) continue;
    taken[last_taken] = 1;
    return last_taken;
  }
  return -1;
}

static void free_operation(operation* ended) {
  contend_free_packed(&ended->blocks);
  contend_free_kept(&ended->blocks, ended->members->size);
  if (ended->stand_in >= 0) taken[ended->stand_in] = 0;
  contend_release_members(ended->members);
  free(ended->requests);
  free(ended);
}

static int begin_phase(operation* running) {
  const contend_plan* plan = running->plan;
  int phase = running->phase++, result = MPI_SUCCESS;
  for (; !result && running->from < plan->from_end[phase]; running->from++) {
    int peer = plan->from[running->from];
    contend_block block = contend_incoming(&running->blocks, peer);
    if (block.count == 0) continue;
    result = contend_receive(block, peer, running->tag, running->members->comm,
                             &running->requests[running->under_way++]);
  }
  for (; !result && running->to < plan->to_end[phase]; running->to++) {
    int peer = plan->to[running->to];
    contend_block block = contend_outgoing(&running->blocks, peer);
    if (block.count == 0) continue;
    result = contend_send(block, peer, running->tag, running->members->comm,
                          &running->requests[running->under_way++]);
  }
  return result;
}

/// Completes the program's request.
static void complete(operation* ended) {
  REAL(Send)(NULL, 0, MPI_BYTE, 0, ended->stand_in, self);
  ended->active = false;
  if (!ended->persistent || ended->unwanted) free_operation(ended);
}

/// Goes on with an operation as far as it goes without waiting; whether it has ended.
static bool advance(operation* running) {
  int result = MPI_SUCCESS;
  for (;;) {
    // One by one: MPI_Testall of MPICH 4.0 looks at requests that have not ended, too.
    while (!result && running->under_way) {
      int ended = 0;
      MPI_Request* last = &running->requests[running->under_way - 1];
      result = REAL(Test)(last, &ended, MPI_STATUS_IGNORE);
      if (!result && !ended) return false;
      running->under_way--;
    }
    if (result) break;
    if (running->phase == running->plan->phases) return true;
    if ((result = begin_phase(running))) break;
  }
  contend_fail(running->user, result);
  return true;
}

/// Goes on with all operations. With the lock held.
static void advance_all(void) {
  operation** at = &live;
  while (*at) {
    operation* running = *at;
    if (!advance(running)) {
      at = &running->next;
      continue;
    }
    *at = running->next;
    __atomic_sub_fetch(&contend_live, 1, __ATOMIC_ACQ_REL);
    complete(running);
  }
}

static void go_on(void) {
  // Who has the lock goes on for all.
  if (pthread_mutex_trylock(&lock)) return;
  advance_all();
  pthread_mutex_unlock(&lock);
}

void contend_release_slowly(void) {
  pthread_mutex_lock(&lock);
  advance_all();
  for (operation* running = live; running; running = running->next) {
    int result = MPI_SUCCESS;
    while (!result && running->phase < running->plan->phases) result = begin_phase(running);
    if (result) contend_fail(running->user, result);
  }
  pthread_mutex_unlock(&lock);
}

/// Begins an operation's messages. With the lock held.
static int start(operation* begun) {
  int result = begun->blocks.in_place ? contend_pack(&begun->blocks, begun->members) : MPI_SUCCESS;
  if (!result) result = contend_copy_own(&begun->blocks, begun->members, begun->tag);
  begun->phase = begun->to = begun->from = begun->under_way = 0;
  begun->active = true;
  // Those that began first go on first.
  operation** at = &live;
  while (*at) at = &(*at)->next;
  begun->next = NULL;
  *at = begun;
  __atomic_add_fetch(&contend_live, 1, __ATOMIC_ACQ_REL);
  if (!result) result = begin_phase(begun);
  return result;
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

/// Gets ready what all operations need; with the lock held.
static int get_ready(operation* made) {
  int result = has_self ? MPI_SUCCESS : REAL(Comm_split)(MPI_COMM_SELF, 0, 0, &self);
  has_self = result == MPI_SUCCESS;
  made->stand_in = take_stand_in();
  return result == MPI_SUCCESS && made->stand_in < 0 ? MPI_ERR_NO_MEM : result;
}

int contend_begin(contend_blocks* blocks, contend_members* members, const contend_plan* plan,
                  MPI_Comm comm, MPI_Request* request) {
  operation* made = new_operation(blocks, members, plan, comm);
  if (made == NULL) return contend_fail(comm, MPI_ERR_TYPE);
  contend_watch();
  pthread_mutex_lock(&lock);
  int result = get_ready(made);
  made->tag = CONTEND_FIRST_TAG + (int)(members->begun++ % CONTEND_TAGS);
  if (!result) result = REAL(Irecv)(NULL, 0, MPI_BYTE, 0, made->stand_in, self, request);
  if (!result) result = start(made);
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
  int result = get_ready(made);
  made->tag = CONTEND_FIRST_PERSISTENT_TAG + (int)members->persistent++;
  made->persistent = true;
  if (!result) result = REAL(Recv_init)(NULL, 0, MPI_BYTE, 0, made->stand_in, self, request);
  if (!result) {
    made->request = *request;
    made->next_persistent = persistent;
    persistent = made;
  }
  pthread_mutex_unlock(&lock);
  return result ? contend_fail(comm, result) : MPI_SUCCESS;
}

void contend_end_operations(void) {
  contend_release();
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
  int failed = started ? start(started) : MPI_SUCCESS;
  pthread_mutex_unlock(&lock);
  if (contend_many_threads) contend_release();
  return failed ? contend_fail(started->user, failed) : result;
}

int contend_Startall(int count, MPI_Request requests[]) {
  int result = MPI_SUCCESS;
  if (__atomic_load_n(&persistent, __ATOMIC_ACQUIRE) == NULL)
    return REAL(Startall)(count, requests);
  for (int index = 0; !result && index < count; index++) result = contend_Start(&requests[index]);
  return result;
}

int contend_Request_free(MPI_Request* request) {
  pthread_mutex_lock(&lock);
  operation* freed = find(*request);
  if (freed) {
    operation** at = &persistent;
    while (*at != freed) at = &(*at)->next_persistent;
    *at = freed->next_persistent;
    freed->unwanted = true;
    if (!freed->active) free_operation(freed);
  }
  int result = REAL(Request_free)(request);
  pthread_mutex_unlock(&lock);
  return result;
}

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

int contend_Wait(MPI_Request* request, MPI_Status* status) {
  int flag = 0;
  UNTIL_ENDED(REAL(Wait)(request, status), REAL(Test)(request, &flag, status), flag)
}

/// Whether all requests have ended, which leaves them as they are: MPI_Testall of MPICH 4.0 takes
/// requests that have not ended for failed ones.
static bool all_ended(int count, MPI_Request requests[]) {
  for (int index = 0; index < count; index++) {
    int flag = 0;
    if (REAL(Request_get_status)(requests[index], &flag, MPI_STATUS_IGNORE)) return true;
    if (!flag) return false;
  }
  return true;
}

int contend_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  while (__atomic_load_n(&contend_live, __ATOMIC_ACQUIRE)) {
    go_on();
    if (all_ended(count, requests)) break;
    sched_yield();
  }
  return REAL(Waitall)(count, requests, statuses);
}

int contend_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  int flag = 0;
  UNTIL_ENDED(REAL(Waitany)(count, requests, index, status),
              REAL(Testany)(count, requests, index, &flag, status), flag)
}

int contend_Waitsome(int count, MPI_Request requests[], int* ended, int indices[],
                     MPI_Status statuses[]){
    UNTIL_ENDED(REAL(Waitsome)(count, requests, ended, indices, statuses),
                REAL(Testsome)(count, requests, ended, indices, statuses), *ended != 0)}
#define GOING_ON \
  if (__atomic_load_n(&contend_live, __ATOMIC_ACQUIRE)) go_on()

int contend_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  GOING_ON;
  return REAL(Test)(request, flag, status);
}

int contend_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  GOING_ON;
  if (all_ended(count, requests)) return REAL(Testall)(count, requests, flag, statuses);
  *flag = 0;
  return MPI_SUCCESS;
}

int contend_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  GOING_ON;
  return REAL(Testany)(count, requests, index, flag, status);
}

int contend_Testsome(int count, MPI_Request requests[], int* ended, int indices[],
                     MPI_Status statuses[]) {
  GOING_ON;
  return REAL(Testsome)(count, requests, ended, indices, statuses);
}

int contend_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  GOING_ON;
  return REAL(Request_get_status)(request, flag, status);
}
