/* Preloaded into ranks of libraries that spin while they wait: a rank that looked for messages and
 * found none naps, so that ranks with work get the processor. Libraries upon UCX look by
 * ucp_worker_progress, others by asking sockets without waiting.
 *
 * MPICH 4.0 upon UCX also hangs at its end now and then: a rank that still says goodbye to a peer
 * waits for an answer, while the peer waits in the launcher's barrier and answers nobody. So ranks
 * leave without goodbye, once what they have sent is on its way. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <sys/epoll.h>
#include <time.h>

static void nap(void) {
  struct timespec pause = {0, 20000};
  nanosleep(&pause, 0);
}

/* A function of a library that was loaded by dlopen, as Python loads MPI: such a library is not
 * among the next ones. */
static void* real_of(const char* name, void* own) {
  void *found = dlsym(RTLD_NEXT, name), *program = dlopen(0, RTLD_LAZY);
  struct link_map* loaded = 0;
  if (program && dlinfo(program, RTLD_DI_LINKMAP, &loaded)) loaded = 0;
  for (; loaded && !found; loaded = loaded->l_next) {
    void* library = *loaded->l_name ? dlopen(loaded->l_name, RTLD_LAZY | RTLD_NOLOAD) : 0;
    if (!library) continue;
    void* here = dlsym(library, name);
    if (here != own) found = here;
    dlclose(library);
  }
  if (program) dlclose(program);
  return found;
}

/* Looks without anything found until a rank may leave: some milliseconds. */
enum { IDLE_LOOKS = 200 };

static void* last_worker;

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*real)(void*);
  if (!real) real = (unsigned (*)(void*))real_of("ucp_worker_progress", ucp_worker_progress);
  last_worker = worker;
  unsigned found = real(worker);
  if (!found) nap();
  return found;
}

void* ucp_disconnect_nb(void* peer) {
  (void)peer;
  for (int idle = 0; last_worker && idle < IDLE_LOOKS; idle++) {
    if (ucp_worker_progress(last_worker)) idle = 0;
  }
  last_worker = 0;
  return 0;
}

int epoll_wait(int set, struct epoll_event* events, int most, int timeout) {
  static int (*real)(int, struct epoll_event*, int, int);
  if (!real) real = (int (*)(int, struct epoll_event*, int, int))dlsym(RTLD_NEXT, "epoll_wait");
  int found = real(set, events, most, timeout);
  if (found == 0 && timeout == 0) nap();
  return found;
}

int poll(struct pollfd* files, nfds_t count, int timeout) {
  static int (*real)(struct pollfd*, nfds_t, int);
  if (!real) real = (int (*)(struct pollfd*, nfds_t, int))dlsym(RTLD_NEXT, "poll");
  int found = real(files, count, timeout);
  if (found == 0 && timeout == 0) nap();
  return found;
}
