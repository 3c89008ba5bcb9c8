// The record: a file that is mapped before anything is recorded and never grows.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "handles.h"
#include "signing_in.h"

// Shares of the memory that a rank may use, as 1/2^n of it; events get what is left.
enum { DEFAULT_MEMORY = 16 << 20, LEAST_MEMORY = 256 << 10, LINE = 64 };
enum { THREADS = 64, MOST_TRIES = 10000 };
enum { MEMBERS_SHIFT = 4, CELLS_SHIFT = 4, COLLECTIVES_SHIFT = 3, SMALL_SHIFT = 7 };
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

contend_record contend;
static CONTEND_OF_THREAD contend_under_way beyond;  // for a thread that has no room in the record
CONTEND_OF_THREAD contend_thread contend_this_thread;

static const char* const routine_names[] = {
#define ROUTINE(name, count) "MPI_" #name "\n",
#include "routines.h"
    "own reduction\n",
    "own error handler\n",
    "own attribute callback\n",
    "own request callback\n",
};

static size_t mapped_bytes;
static int file = -1;

static uint64_t round_up(uint64_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

/// How much of everything fits into the memory that the user grants, and where it begins.
static uint64_t lay_out(contend_section* sections, uint64_t memory, int size) {
  uint64_t names = 0;
  for (int index = 0; index < CONTEND_ALL_ROUTINES; index++) names += strlen(routine_names[index]);
  const uint64_t item_bytes[CONTEND_SECTIONS] = {1,
                                                 1,
                                                 sizeof(contend_communicator),
                                                 sizeof(int32_t),
                                                 sizeof(contend_cell),
                                                 sizeof(contend_peer),
                                                 sizeof(contend_collective),
                                                 sizeof(contend_under_way),
                                                 sizeof(contend_event)};
  uint64_t bytes[CONTEND_SECTIONS] = {
      names,                        // routines
      memory >> SMALL_SHIFT,        // modules
      memory >> SMALL_SHIFT,        // communicators
      memory >> MEMBERS_SHIFT,      // members
      memory >> CELLS_SHIFT,        // cells, and one for each routine on top
      0,                            // peers, on top
      memory >> COLLECTIVES_SHIFT,  // collectives
      THREADS * sizeof(contend_under_way)};
  bytes[CONTEND_CELLS] += CONTEND_ALL_ROUTINES * sizeof(contend_cell);
  uint64_t spent = round_up(sizeof(contend_header));
  for (int kind = 0; kind < CONTEND_EVENTS; kind++) spent += round_up(bytes[kind]);
  bytes[CONTEND_EVENTS] = memory - spent;
  bytes[CONTEND_PEERS] = (uint64_t)size * sizeof(contend_peer);
  uint64_t offset = round_up(sizeof(contend_header));
  for (int kind = 0; kind < CONTEND_SECTIONS; kind++) {
    uint64_t items = bytes[kind] / item_bytes[kind];
    sections[kind] =
        (contend_section){.offset = offset, .capacity = items, .item_bytes = item_bytes[kind]};
    offset += round_up(items * item_bytes[kind]);
  }
  return offset;
}

static uint64_t granted_memory(void) {
  const char* text = getenv("CONTEND_PROFILE_MEMORY");
  uint64_t bytes = text && *text ? strtoull(text, NULL, 10) : DEFAULT_MEMORY;
  return bytes < LEAST_MEMORY ? LEAST_MEMORY : bytes;
}

/// Makes a file of this rank's that no other program has made, and its path.
static int make_file(const char* folder, int rank, char* path, size_t room) {
  for (int turn = 1;; turn++) {
    char more[16] = "";
    if (turn > 1) snprintf(more, sizeof more, "-%d", turn);
    int length = snprintf(path, room, "%s/rank-%06d%s.record", folder, rank, more);
    errno = ENAMETOOLONG;
    if (length >= (int)room) return -1;
    int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (made >= 0 || errno != EEXIST) return made;
  }
}

/// Everything from the kernel at once: a full disk is an error here, and no signal later, and no
/// call of the program's has to wait for a page.
static void* map_file(const char* path, size_t bytes) {
  if (file < 0) return NULL;
  // A file beyond this limit would end the program by a signal.
  struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};
  (void)getrlimit(RLIMIT_FSIZE, &most);
  int error = bytes > most.rlim_cur ? EFBIG : posix_fallocate(file, 0, (off_t)bytes);
  void* memory = MAP_FAILED;
  if (error == 0) {
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    error = errno;
  }
  if (memory == MAP_FAILED) {
    close(file);
    unlink(path);
    errno = error;
    return NULL;
  }
  // Older kernels cannot, and then pages come when they are used.
  (void)madvise(memory, bytes, MADV_POPULATE_WRITE);
  return memory;
}

static void* section_of(enum contend_section_kind kind) {
  return (char*)contend.header + contend.header->sections[kind].offset;
}

void contend_meet_thread(void) {
  contend_thread* thread = &contend_this_thread;
  contend_section* section = &contend.header->sections[CONTEND_THREADS];
  unsigned number = atomic_fetch_add(&contend.threads, 1);
  thread->known = true;
  thread->number = (uint16_t)number;
  thread->under_way = &beyond;
  if (number >= section->capacity) return;
  thread->under_way = (contend_under_way*)section_of(CONTEND_THREADS) + number;
  thread->under_way->left = contend_ticks();
  thread->under_way->routine = CONTEND_NO_CALL;
  // Threads that come at the same time must not take each other's place back.
  contend_lock();
  if (section->used <= number) section->used = number + 1;
  contend_unlock();
}

static void describe(contend_header* header, int rank, int size, int thread_level) {
  memcpy(header->magic, CONTEND_MAGIC, sizeof header->magic);
  header->version = CONTEND_RECORD_VERSION;
  header->header_bytes = sizeof *header;
  header->rank = rank;
  header->size = size;
  header->pid = getpid();
  header->thread_level = (uint32_t)thread_level;
  header->collective_stride = 1;
  MPI_Comm parent = MPI_COMM_NULL;
  ((int (*)(MPI_Comm*))contend_symbol("PMPI_Comm_get_parent"))(&parent);
  header->spawned = parent != MPI_COMM_NULL;
  contend_write_launch(header->launch, sizeof header->launch);
  gethostname(header->host, sizeof header->host - 1);
  ssize_t length = readlink("/proc/self/exe", header->program, sizeof header->program - 1);
  if (length < 0) header->program[0] = '\0';
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int (*ask)(char*, int*) = (int (*)(char*, int*))contend_symbol("PMPI_Get_library_version");
  int characters = 0;
  ask(version, &characters);
  version[strcspn(version, "\n")] = '\0';
  snprintf(header->library, sizeof header->library, "%s", version);
}

/// A table of indexes of cells, twice as large as there may be cells.
static bool make_cell_slots(uint64_t cells) {
  uint64_t slots = 1;
  while (slots < 2 * cells) slots *= 2;
  contend.cell_mask = (uint32_t)(slots - 1);
  contend.cell_slots = malloc(slots * sizeof *contend.cell_slots);
  if (contend.cell_slots == NULL) return false;
  memset(contend.cell_slots, 0xff, slots * sizeof *contend.cell_slots);
  return true;
}

/// What finds flows; more ranks than peers stand for all members of a communicator.
static bool make_flows(int size) {
  size_t bytes = sizeof *contend.flows << CONTEND_FLOW_BITS;
  contend.flows = malloc(bytes);
  contend.lasts = calloc(2 * ((size_t)size + 1), sizeof *contend.lasts);
  if (contend.flows == NULL || contend.lasts == NULL) return false;
  memset(contend.flows, 0xff, bytes);
  return true;
}

contend_flow* contend_flow_slowly(contend_flow* flow, uint64_t envelope, uint32_t side) {
  static contend_flow beyond_all;
  static uint32_t flows;
  const contend_flow* end = contend.flows + (1u << CONTEND_FLOW_BITS);
  while (flow->side != UINT32_MAX) {
    if (flow->side == side && flow->envelope == envelope) return flow;
    if (++flow == end) flow = contend.flows;
  }
  // A flow that has begun was silent for as long as the peer was.
  bool fits = flows < 3u << (CONTEND_FLOW_BITS - 2);
  flows += fits;
  if (!fits) flow = &beyond_all;
  *flow = (contend_flow){envelope, side, fits ? 0 : CONTEND_NO_NUMBER, contend.lasts[side]};
  if (flow->last == 0) flow->last = contend.header->clock.start_ticks;
  return flow;
}

/// Leaves out the shortest half of the later events; whether one of such a length fits then.
static bool make_room(uint64_t length) {
  contend_header* header = contend.header;
  contend_section* section = &header->sections[CONTEND_EVENTS];
  contend_event* events = contend.events;
  uint64_t used = section->used, whole = contend.least ? header->whole : section->capacity / 2;
  while (whole < used && events[whole].kind != CONTEND_CALL) whole++;
  uint64_t of_weight[65] = {0}, left = used - whole;
  for (uint64_t index = whole; index < used; index++) of_weight[events[index].weight]++;
  unsigned least = contend.least ? 64 - (unsigned)__builtin_clzll(contend.least) : 0;
  do left -= of_weight[least++];
  while (least < 63 && left > (section->capacity - whole) / 2);
  header->whole = whole;
  header->least = contend.least = UINT64_C(1) << (least - 1);
  // Should this be the end, the later half is gone, and nothing is there twice.
  __atomic_store_n(&section->used, whole, __ATOMIC_RELEASE);
  atomic_signal_fence(memory_order_seq_cst);
  uint64_t kept = whole;
  for (uint64_t index = whole; index < used; index++)
    if (events[index].weight >= least) events[kept++] = events[index];
  atomic_signal_fence(memory_order_seq_cst);
  section->lost += used - kept;
  __atomic_store_n(&section->used, kept, __ATOMIC_RELEASE);
  return length >= contend.least && kept < section->capacity;
}

void contend_append(const contend_call* call, contend_event event, uint64_t length) {
  contend_section* section = &contend.header->sections[CONTEND_EVENTS];
  if (section->used == section->capacity && !make_room(length)) {
    section->lost++;
    return;
  }
  event.start = call->start;
  event.end = call->end;
  event.weight = length ? (uint8_t)(64 - __builtin_clzll(length)) : 0;
  event.thread = contend_this_thread.number;
  contend.events[section->used++] = event;
}

/// Says why a rank has no record, the first of all for each reason.
static void tell(int rank, const char* path, int error) {
  char host[64] = "", name[64];
  snprintf(name, sizeof name, "%s%d", CONTEND_UNRECORDED, error);
  if (!contend_leave_word(name, path) && errno == EEXIST) return;
  gethostname(host, sizeof host - 1);
  fprintf(stderr, "contend: rank %d on %s is not recorded: %s: %s\n", rank, host, path,
          strerror(error));
}

/// Whether a rank whose memory is limited, as by ulimit -v, keeps most of what is left of it.
static bool leaves_memory(uint64_t bytes) {
  struct rlimit most;
  if (getrlimit(RLIMIT_AS, &most) != 0 || most.rlim_cur == RLIM_INFINITY) return true;
  unsigned long pages = 0;
  FILE* sizes = fopen("/proc/self/statm", "re");
  bool known = sizes && fscanf(sizes, "%lu", &pages) == 1;
  if (sizes) fclose(sizes);
  uint64_t taken = pages * (uint64_t)sysconf(_SC_PAGESIZE);
  return !known || (taken < most.rlim_cur && bytes <= (most.rlim_cur - taken) / 4);
}

bool contend_open_record(const char* folder, int rank, int size, int thread_level) {
  contend_section sections[CONTEND_SECTIONS];
  mapped_bytes = lay_out(sections, granted_memory(), size);
  char path[4096] = "";
  contend_header* header = NULL;
  errno = ENOMEM;
  if (leaves_memory(mapped_bytes) && make_cell_slots(sections[CONTEND_CELLS].capacity) &&
      make_flows(size) && contend_start_requests()) {
    file = make_file(folder, rank, path, sizeof path);
    header = map_file(path, mapped_bytes);
  }
  if (header == NULL) {
    tell(rank, *path ? path : folder, errno);
    return false;
  }
  contend.header = header;
  memcpy(header->sections, sections, sizeof sections);
  contend.communicators = section_of(CONTEND_COMMUNICATORS);
  contend.members = section_of(CONTEND_MEMBERS);
  contend.cells = section_of(CONTEND_CELLS);
  contend.peers = section_of(CONTEND_PEERS);
  contend.collectives = section_of(CONTEND_COLLECTIVES);
  contend.events = section_of(CONTEND_EVENTS);
  contend.locked = thread_level == MPI_THREAD_MULTIPLE;
  char* names = section_of(CONTEND_ROUTINES);
  for (int index = 0; index < CONTEND_ALL_ROUTINES; index++)
    names = stpncpy(names, routine_names[index], strlen(routine_names[index]));
  header->sections[CONTEND_ROUTINES].used = header->sections[CONTEND_ROUTINES].capacity;
  header->sections[CONTEND_PEERS].used = (uint64_t)size;
  describe(header, rank, size, thread_level);
  return true;
}

/// Gives back the pages of a section that nothing was written to.
static void release_rest(const contend_section* section) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t begin = section->offset + section->used * section->item_bytes;
  uint64_t end = section->offset + section->capacity * section->item_bytes;
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  if (begin < end)
    (void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin,
                    (off_t)(end - begin));
}

/// Keeps other threads out as long as they may be in a call. A program may end in a signal's
/// handler, while the thread that it has interrupted is at the record.
static bool lock_soon(void) {
  for (int tries = 0; contend.locked && tries < MOST_TRIES; tries++) {
    if (!atomic_flag_test_and_set_explicit(&contend.lock, memory_order_acquire)) return true;
    sched_yield();
  }
  return false;
}

void contend_close_record(enum contend_state state, int exit_code) {
  contend_header* header = contend.header;
  if (header == NULL) return;
  bool alone = lock_soon();
  contend_note_modules();
  contend_read_clocks(contend_ticks());
  header->state = state;
  header->exit_code = exit_code;
  contend_section* events = &header->sections[CONTEND_EVENTS];
  for (int kind = 0; kind < CONTEND_EVENTS; kind++) release_rest(&header->sections[kind]);
  // The rest of the last section: other threads may still be in a call, and then it stays.
  if (!contend.locked) {
    events->capacity = events->used;
    contend.header = NULL;
    if (ftruncate(file, (off_t)(events->offset + events->used * events->item_bytes)) != 0)
      return;  // The file is longer than it need be.
  }
  if (alone) contend_unlock();
}

void contend_read_clocks(uint64_t ticks) {
  contend_clock* clock = &contend.header->clock;
  clock->end_ticks = ticks;
  clock->end_ns = contend_monotonic();
  contend.next_reading = ticks + contend.reading_gap;
}

/// Adds a line to the modules unless it is there already.
static void note_module(const char* line, size_t length) {
  contend_section* section = &contend.header->sections[CONTEND_MODULES];
  char* modules = section_of(CONTEND_MODULES);
  if (memmem(modules, section->used, line, length) != NULL) return;
  if (section->used + (uint64_t)length > section->capacity) {
    section->lost += (uint64_t)length;
    return;
  }
  memcpy(modules + section->used, line, length);
  section->used += (uint64_t)length;
}

void contend_note_source(uintptr_t start, uintptr_t end, const char* name) {
  char line[4096];
  int length =
      snprintf(line, sizeof line, "%" PRIxPTR "-%" PRIxPTR " source 0 0 0 %s\n", start, end, name);
  if (length < 0 || length >= (int)sizeof line) return;
  for (char* at = line; (at = strchr(at, '\n')) < line + length - 1;) *at = '?';
  note_module(line, (size_t)length);
}

void contend_note_modules(void) {
  FILE* maps = fopen("/proc/self/maps", "re");
  if (maps == NULL) return;
  char* line = NULL;
  size_t room = 0;
  ssize_t length;
  while ((length = getline(&line, &room, maps)) > 0) {
    const char* rights = strchr(line, ' ');
    if (rights == NULL || rights[3] != 'x' || strchr(line, '/') == NULL) continue;
    note_module(line, (size_t)length);
  }
  free(line);
  fclose(maps);
}

/// Whether an address is in one of the modules that were noted.
static bool is_in_modules(uintptr_t address) {
  const contend_section* section = &contend.header->sections[CONTEND_MODULES];
  const char *line = section_of(CONTEND_MODULES), *end = line + section->used;
  while (line < end) {
    char* rest;
    uintptr_t start = strtoull(line, &rest, 16);
    uintptr_t stop = strtoull(rest + 1, NULL, 16);
    if (address >= start && address < stop) return true;
    line = memchr(line, '\n', (size_t)(end - line));
    if (line == NULL) return false;
    line++;
  }
  return false;
}

uint32_t contend_new_cell(uint64_t site, uint32_t communicator, uint16_t routine,
                          uint16_t size_class, uint32_t slot) {
  contend_section* section = &contend.header->sections[CONTEND_CELLS];
  static uint32_t of_routines[CONTEND_ALL_ROUTINES];  // plus 1
  static uint32_t made_of_routines;
  uint64_t left = section->capacity - section->used;
  if (left <= CONTEND_ALL_ROUTINES - made_of_routines) {
    section->lost++;
    if (of_routines[routine]) return of_routines[routine] - 1;
    made_of_routines++;
    of_routines[routine] = (uint32_t)section->used + 1;
    contend.cells[section->used] = (contend_cell){
        .communicator = CONTEND_OTHERS, .routine = routine, .size_class = CONTEND_ALL_SIZES};
    return (uint32_t)section->used++;
  }
  // The program has loaded more code since.
  if (!is_in_modules(site)) {
    contend_note_modules();
    contend_learn_own_code();
  }
  uint32_t index = (uint32_t)section->used;
  contend.cells[index] = (contend_cell){
      .site = site, .communicator = communicator, .routine = routine, .size_class = size_class};
  section->used++;
  contend.cell_slots[slot] = index;
  return index;
}
