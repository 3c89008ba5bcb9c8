// Communicators: which ranks of MPI_COMM_WORLD they hold, and ids that are the same on all members
// without a word between them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handles.h"

enum { TABLE = 1024, MOST_DIMENSIONS = 8 };
enum { APART = 4 };  // like communicators that have an index each

contend_live_communicator* contend_last_communicator;

static contend_live_communicator* table[TABLE];
static contend_live_communicator* world;

/// Ranks of a group in MPI_COMM_WORLD.
typedef struct {
  int32_t* ranks;  ///< NULL when they are 0, 1, ...
  int32_t size, own_rank;
} ranks_of_group;

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0xd6e8feb86659fd93);
  return hash ^ hash >> 32;
}

static uint64_t hash_of(const ranks_of_group* group) {
  uint64_t hash = mix(1, (uint64_t)group->size);
  for (int32_t rank = 0; rank < group->size; rank++)
    hash = mix(hash, (uint64_t)(group->ranks ? group->ranks[rank] : rank));
  return hash;
}

static ranks_of_group ranks_of(MPI_Group group, MPI_Group world_group) {
  int (*rank_in)(MPI_Group, int*) = (int (*)(MPI_Group, int*))contend_symbol("PMPI_Group_rank");
  int (*size_of)(MPI_Group, int*) = (int (*)(MPI_Group, int*))contend_symbol("PMPI_Group_size");
  int (*translate)(MPI_Group, int, const int*, MPI_Group, int*) =
      (__typeof__(translate))contend_symbol("PMPI_Group_translate_ranks");
  ranks_of_group result = {NULL, 0, CONTEND_NO_PEER};
  int size = 0, own = 0;
  size_of(group, &size);
  rank_in(group, &own);
  result.size = size;
  result.own_rank = own;
  int* own_ranks = malloc((size_t)size * sizeof *own_ranks + 1);
  result.ranks = malloc((size_t)size * sizeof *result.ranks + 1);
  if (own_ranks == NULL || result.ranks == NULL) abort();
  for (int rank = 0; rank < size; rank++) {
    own_ranks[rank] = rank;
    result.ranks[rank] = MPI_UNDEFINED;
  }
  if (world_group != MPI_GROUP_NULL) translate(group, size, own_ranks, world_group, result.ranks);
  bool as_in_world = true;
  for (int rank = 0; rank < size; rank++) {
    if (result.ranks[rank] == MPI_UNDEFINED) result.ranks[rank] = CONTEND_NO_PEER;
    as_in_world = as_in_world && result.ranks[rank] == rank;
  }
  free(own_ranks);
  if (as_in_world) {
    free(result.ranks);
    result.ranks = NULL;
  }
  return result;
}

/// The groups of a communicator; `remote` is empty within one group.
static void groups_of(MPI_Comm handle, ranks_of_group* local, ranks_of_group* remote) {
  *remote = (ranks_of_group){NULL, 0, CONTEND_NO_PEER};
  // Programs with sessions alone have neither of these, but what is recorded has.
  const contend_header* header = contend.header;
  if (handle == MPI_COMM_WORLD) {
    *local = (ranks_of_group){NULL, header->size, header->rank};
    return;
  }
  if (handle == MPI_COMM_SELF) {
    *local = (ranks_of_group){NULL, 1, 0};
    if (header->rank == 0) return;
    local->ranks = malloc(sizeof *local->ranks);
    if (local->ranks == NULL) abort();
    local->ranks[0] = header->rank;
    return;
  }
  int (*group_of)(MPI_Comm, MPI_Group*) = (__typeof__(group_of))contend_symbol("PMPI_Comm_group");
  int (*remote_of)(MPI_Comm, MPI_Group*) =
      (__typeof__(remote_of))contend_symbol("PMPI_Comm_remote_group");
  int (*is_between)(MPI_Comm, int*) =
      (__typeof__(is_between))contend_symbol("PMPI_Comm_test_inter");
  int (*drop)(MPI_Group*) = (__typeof__(drop))contend_symbol("PMPI_Group_free");
  MPI_Group all = contend_world_group(), group;
  int between = 0;
  group_of(handle, &group);
  *local = ranks_of(group, all);
  drop(&group);
  is_between(handle, &between);
  if (between) {
    remote_of(handle, &group);
    *remote = ranks_of(group, all);
    drop(&group);
  }
  if (all != MPI_GROUP_NULL) drop(&all);
}

/// The first item of a section of members that holds these, or UINT64_MAX when they do not fit.
static uint64_t keep_members(const int32_t* ranks, int32_t size,
                             const contend_communicator* parent) {
  contend_section* section = &contend.header->sections[CONTEND_MEMBERS];
  // Most communicators of many ranks are copies: they share what is there.
  if (parent->members != UINT64_MAX && parent->size == (uint32_t)size) {
    const int32_t* kept = contend.members + parent->members;
    int32_t rank = 0;
    while (rank < size && kept[rank] == (ranks ? ranks[rank] : rank)) rank++;
    if (rank == size) return parent->members;
  }
  if (section->capacity - section->used < (uint64_t)size) {
    section->lost += (uint64_t)size;
    return UINT64_MAX;
  }
  uint64_t first = section->used;
  for (int32_t rank = 0; rank < size; rank++)
    contend.members[first + (uint64_t)rank] = ranks ? ranks[rank] : rank;
  section->used += (uint64_t)size;
  return first;
}

static void set_topology(contend_communicator* record, MPI_Comm handle) {
  int (*topology)(MPI_Comm, int*) = (__typeof__(topology))contend_symbol("PMPI_Topo_test");
  int kind = MPI_UNDEFINED;
  topology(handle, &kind);
  if (kind == MPI_GRAPH) record->kind = CONTEND_GRAPH;
  if (kind == MPI_DIST_GRAPH) record->kind = CONTEND_DIST_GRAPH;
  if (kind != MPI_CART) return;
  record->kind = CONTEND_CARTESIAN;
  int (*dimensions_of)(MPI_Comm, int*) =
      (__typeof__(dimensions_of))contend_symbol("PMPI_Cartdim_get");
  int (*get)(MPI_Comm, int, int*, int*, int*) = (__typeof__(get))contend_symbol("PMPI_Cart_get");
  int count = 0;
  dimensions_of(handle, &count);
  record->dimensions = (uint32_t)count;
  int* numbers = malloc(3 * (size_t)count * sizeof *numbers + 1);
  if (numbers == NULL) return;
  get(handle, count, numbers, numbers + count, numbers + 2 * count);
  for (int index = 0; index < count && index < MOST_DIMENSIONS; index++)
    record->extent[index] = numbers[index];
  free(numbers);
}

/// The sort of a communicator: what those that are alike have in common on all members.
static uint64_t mix_topology(uint64_t sort, const contend_communicator* record) {
  sort = mix(sort, (uint64_t)record->kind << 32 | record->dimensions);
  for (int index = 0; index < MOST_DIMENSIONS; index++)
    sort = mix(sort, (uint32_t)record->extent[index]);
  return sort;
}

/// Index and id of the next communicator of a sort; the index is a new one for the first few, and
/// then that of the last of them, as programs may make such a one in every step. Members make those
/// of a sort in the same order, so that all of them count alike.
static uint32_t index_of(uint64_t sort, uint64_t* id) {
  const contend_section* section = &contend.header->sections[CONTEND_COMMUNICATORS];
  uint32_t index = (uint32_t)section->used;
  for (uint32_t turn = 0; turn < APART; turn++) {
    *id = mix(sort, turn);
    for (index = 0; index < section->used && contend.communicators[index].id != *id;) index++;
    if (index == section->used) return index;
  }
  return index;
}

static contend_live_communicator** slot_of(uint64_t key) {
  return &table[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

static contend_live_communicator* look_up(uint64_t key) {
  contend_live_communicator* candidate = *slot_of(key);
  while (candidate && candidate->key != key) candidate = candidate->next;
  return candidate;
}

/// How a communicator came to be.
typedef struct {
  contend_live_communicator* parent;  ///< NULL for none that is known
  uint64_t salt;                      ///< what tells it from others of the same parent and members
} origin;

/// Makes a communicator known, whose groups and topology are those of `like`, which may be asked;
/// `name` may be NULL.
static contend_live_communicator* add_like(uint64_t key, MPI_Comm like, origin from,
                                           const char* name) {
  contend_live_communicator* live = calloc(1, sizeof *live);
  ranks_of_group local, remote;
  if (live == NULL) abort();
  groups_of(like, &local, &remote);
  bool between = remote.size > 0;
  live->key = key;
  live->rank = local.own_rank;
  live->size = local.size;
  live->peer_count = between ? remote.size : local.size;
  live->world_ranks = between ? remote.ranks : local.ranks;
  live->kind = between ? CONTEND_INTER : CONTEND_INTRA;
  live->destination_count = -1;
  live->references = 1;
  uint64_t one = hash_of(&local), other = between ? hash_of(&remote) : 0;
  // Both groups come to the same result.
  uint64_t members = one < other ? mix(one, other) : mix(other, one);
  contend_communicator record = {.kind = live->kind, .rank = live->rank};
  if (contend.header->sections[CONTEND_COMMUNICATORS].used > CONTEND_OTHERS)
    set_topology(&record, like);
  live->kind = record.kind;
  uint64_t sort = mix(mix(from.parent ? from.parent->id : 0, from.salt), members);
  if (between) free(local.ranks);
  contend_section* section = &contend.header->sections[CONTEND_COMMUNICATORS];
  live->index = index_of(mix_topology(sort, &record), &live->id);
  if (live->index < section->used) {
    live->turn = contend.communicators[live->index].more++;
  } else if (section->used < section->capacity) {
    record.id = live->id;
    record.size = (uint32_t)live->peer_count;
    record.parent = from.parent ? from.parent->index : CONTEND_WORLD;
    record.members = UINT64_MAX;
    const contend_communicator* parent =
        section->used ? contend.communicators + record.parent : &record;
    record.members = keep_members(live->world_ranks, live->peer_count, parent);
    if (name) strncpy(record.name, name, sizeof record.name - 1);
    record.more = 1;
    contend.communicators[live->index] = record;
    section->used++;
  } else {
    live->index = CONTEND_OTHERS;
    section->lost++;
  }
  contend_live_communicator** slot = slot_of(key);
  live->next = *slot;
  *slot = live;
  return live;
}

static contend_live_communicator* add(MPI_Comm handle, origin from, const char* name) {
  return add_like(CONTEND_KEY(handle), handle, from, name);
}

void contend_start_communicators(void) {
  world = add(MPI_COMM_WORLD, (origin){NULL, 0}, "MPI_COMM_WORLD");
  add(MPI_COMM_SELF, (origin){world, 1}, "MPI_COMM_SELF");
  contend_section* section = &contend.header->sections[CONTEND_COMMUNICATORS];
  contend_communicator* others = &contend.communicators[section->used++];
  others->rank = CONTEND_NO_PEER;
  others->members = UINT64_MAX;
  strcpy(others->name, "others");
  contend_last_communicator = world;
}

contend_live_communicator* contend_communicator_slowly(MPI_Comm handle) {
  contend_live_communicator* live = look_up(CONTEND_KEY(handle));
  // It came to be in a way that is not recorded, as by MPI_Comm_spawn.
  if (live == NULL) live = add(handle, (origin){NULL, 2}, NULL);
  contend_last_communicator = live;
  return live;
}

contend_live_communicator* contend_look_up(uint64_t key) { return look_up(key); }

int32_t contend_awaited_peer(const contend_live_communicator* on, int peer) {
  if (peer == MPI_ANY_SOURCE) return CONTEND_ANY_PEER;
  if (peer == MPI_PROC_NULL) return CONTEND_NO_PEER;
  int32_t known = on ? contend_world_rank(on, peer) : CONTEND_NO_PEER;
  if (on && (peer < 0 || peer >= on->peer_count)) return CONTEND_INVALID_PEER;
  return known == CONTEND_NO_PEER ? CONTEND_FOREIGN_PEER : known;
}

void contend_free_communicator(contend_live_communicator* live) {
  free(live->world_ranks);
  free(live->destinations);
  free(live->epochs[0]);
  free(live->epochs[1]);
  free(live);
}

int32_t contend_neighbours(contend_live_communicator* live, MPI_Comm handle,
                           const int32_t** destinations) {
  *destinations = live->destinations;
  if (live->destination_count >= 0) {
    *destinations = live->destinations;
    return live->destination_count;
  }
  int count = 0;
  int* found = NULL;
  if (live->kind == CONTEND_CARTESIAN) {
    int (*dimensions_of)(MPI_Comm, int*) =
        (__typeof__(dimensions_of))contend_symbol("PMPI_Cartdim_get");
    int (*shift)(MPI_Comm, int, int, int*, int*) =
        (__typeof__(shift))contend_symbol("PMPI_Cart_shift");
    dimensions_of(handle, &count);
    found = malloc(2 * (size_t)count * sizeof *found + 1);
    for (int dimension = 0; found && dimension < count; dimension++)
      shift(handle, dimension, 1, &found[2 * dimension], &found[2 * dimension + 1]);
    count *= 2;
  } else if (live->kind == CONTEND_GRAPH) {
    int (*count_of)(MPI_Comm, int, int*) =
        (__typeof__(count_of))contend_symbol("PMPI_Graph_neighbors_count");
    int (*get)(MPI_Comm, int, int, int*) = (__typeof__(get))contend_symbol("PMPI_Graph_neighbors");
    count_of(handle, live->rank, &count);
    found = malloc((size_t)count * sizeof *found + 1);
    if (found) get(handle, live->rank, count, found);
  } else if (live->kind == CONTEND_DIST_GRAPH) {
    int (*count_of)(MPI_Comm, int*, int*, int*) =
        (__typeof__(count_of))contend_symbol("PMPI_Dist_graph_neighbors_count");
    int (*get)(MPI_Comm, int, int*, int*, int, int*, int*) =
        (__typeof__(get))contend_symbol("PMPI_Dist_graph_neighbors");
    int sources = 0, weighted = 0;
    count_of(handle, &sources, &count, &weighted);
    size_t ints = 2 * (size_t)sources + 2 * (size_t)count;
    int* all = malloc(ints * sizeof *all + 1);
    found = malloc((size_t)count * sizeof *found + 1);
    if (all && found) {
      get(handle, sources, all, all + sources, count, all + 2 * sources, all + 2 * sources + count);
      memcpy(found, all + 2 * sources, (size_t)count * sizeof *found);
    }
    free(all);
  }
  live->destinations = found;
  live->destination_count = found ? count : 0;
  *destinations = live->destinations;
  return live->destination_count;
}

// ---- the routines

/// Tells the next communicator that all members make from others of the same parent.
static uint64_t count_made(contend_live_communicator* parent, uint16_t routine) {
  if (parent->index != CONTEND_OTHERS) contend.communicators[parent->index].collectives++;
  return mix(3, routine);
}

/// Notes a call that makes a communicator from one that all its members call it on. The call counts
/// on the parent whether this rank is in the new one or not.
static void note_made(const contend_call* call, int result, MPI_Comm parent_handle,
                      MPI_Comm* made) {
  if (result == MPI_SUCCESS) {
    contend_live_communicator* parent = contend_find(parent_handle);
    uint64_t salt = count_made(parent, call->routine);
    if (*made != MPI_COMM_NULL) add(*made, (origin){parent, salt}, NULL);
    contend_note(call, parent->index, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
  }
  contend_done();
}

#define MAKES(name, parameters, arguments, parent, made) \
  int contend_##name parameters {                        \
    CONTEND_CALL_OF(name, arguments);                    \
    contend_await_members(parent);                       \
    int result = REAL(name) arguments;                   \
    contend_leave(&call);                                \
    note_made(&call, result, parent, made);              \
    return result;                                       \
  }

MAKES(Comm_dup, (MPI_Comm parent, MPI_Comm* made), (parent, made), parent, made)
MAKES(Comm_dup_with_info, (MPI_Comm parent, MPI_Info info, MPI_Comm* made), (parent, info, made),
      parent, made)
MAKES(Comm_create, (MPI_Comm parent, MPI_Group group, MPI_Comm* made), (parent, group, made),
      parent, made)
MAKES(Comm_split, (MPI_Comm parent, int colour, int key, MPI_Comm* made),
      (parent, colour, key, made), parent, made)
MAKES(Comm_split_type, (MPI_Comm parent, int type, int key, MPI_Info info, MPI_Comm* made),
      (parent, type, key, info, made), parent, made)
MAKES(Cart_create,
      (MPI_Comm parent, int dimensions, const int extents[], const int periods[], int reorder,
       MPI_Comm* made),
      (parent, dimensions, extents, periods, reorder, made), parent, made)
MAKES(Cart_sub, (MPI_Comm parent, const int remain[], MPI_Comm* made), (parent, remain, made),
      parent, made)
MAKES(Graph_create,
      (MPI_Comm parent, int nodes, const int index[], const int edges[], int reorder,
       MPI_Comm* made),
      (parent, nodes, index, edges, reorder, made), parent, made)
MAKES(Dist_graph_create,
      (MPI_Comm parent, int count, const int sources[], const int degrees[],
       const int destinations[], const int weights[], MPI_Info info, int reorder, MPI_Comm* made),
      (parent, count, sources, degrees, destinations, weights, info, reorder, made), parent, made)
MAKES(Dist_graph_create_adjacent,
      (MPI_Comm parent, int in, const int sources[], const int source_weights[], int out,
       const int destinations[], const int weights[], MPI_Info info, int reorder, MPI_Comm* made),
      (parent, in, sources, source_weights, out, destinations, weights, info, reorder, made),
      parent, made)
MAKES(Intercomm_merge, (MPI_Comm parent, int high, MPI_Comm* made), (parent, high, made), parent,
      made)

/// Notes a call that only the members of the new communicator make: what tells it from others is
/// how often the same members have made one with the same tag.
static void note_made_by_members(const contend_call* call, int result, MPI_Comm parent_handle,
                                 uint64_t salt, MPI_Comm* made) {
  if (result == MPI_SUCCESS) {
    contend_live_communicator* parent = contend_find(parent_handle);
    if (*made != MPI_COMM_NULL) {
      contend_live_communicator* of = salt >> 32 ? world : parent;
      contend_live_communicator* child = add(*made, (origin){of, salt}, NULL);
      if (child->index != CONTEND_OTHERS)
        contend.communicators[child->index].parent = parent->index;
    }
    contend_note(call, parent->index, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
  }
  contend_done();
}

/// Notes that a call waits for so many ranks to make it too, and for the leader among them.
static void await_group(const contend_live_communicator* on, const int32_t* ranks, int32_t count,
                        int32_t leader, int tag) {
  uint32_t place = contend_this_thread.under_way->count;
  for (int32_t index = 0; index < count && place < CONTEND_AWAITED; index++) {
    int32_t rank = ranks ? ranks[index] : index;
    if (rank == contend.header->rank || rank < 0) continue;
    contend_await_at(place++, CONTEND_AWAITS_GROUP, on, rank, tag, index == leader);
  }
}

static void await_members(MPI_Comm of, MPI_Group group, int leader, int tag) {
  if (group == MPI_GROUP_NULL) return;
  int32_t count, *ranks = contend_ranks_of(group, &count);
  contend_lock();
  await_group(contend_known(of), ranks, count, leader, tag);
  contend_unlock();
  free(ranks);
}

int contend_Comm_create_group(MPI_Comm parent, MPI_Group group, int tag, MPI_Comm* made) {
  CONTEND_CALL_OF(Comm_create_group, (parent, group, tag, made));
  await_members(parent, group, -1, tag);
  int result = REAL(Comm_create_group)(parent, group, tag, made);
  contend_leave(&call);
  note_made_by_members(&call, result, parent, mix(4, (uint32_t)tag) >> 32, made);
  return result;
}

int contend_Intercomm_create(MPI_Comm local, int local_leader, MPI_Comm bridge, int remote_leader,
                             int tag, MPI_Comm* made) {
  CONTEND_CALL_OF(Intercomm_create, (local, local_leader, bridge, remote_leader, tag, made));
  contend_lock();
  const contend_live_communicator* own = contend_known(local);
  // The bridge is the leaders' alone.
  if (own && own->rank == local_leader) {
    int32_t other = contend_awaited_peer(contend_known(bridge), remote_leader);
    await_group(own, &other, 1, -1, tag);
  }
  if (own) await_group(own, own->world_ranks, own->size, local_leader, tag);
  contend_unlock();
  int result = REAL(Intercomm_create)(local, local_leader, bridge, remote_leader, tag, made);
  contend_leave(&call);
  // The two groups know no common parent but the world.
  note_made_by_members(&call, result, local, UINT64_C(1) << 32 | (uint32_t)tag, made);
  return result;
}

#if CONTEND_MPI_4
/// What tells communicators that sessions make from groups of the same ranks; its low bits stand
/// for a tag.
static uint64_t salt_of(const char* name) {
  uint64_t hash = 5;
  for (; name && *name; name++) hash = mix(hash, (unsigned char)*name);
  return UINT64_C(1) << 32 | hash >> 32;
}

int contend_Comm_create_from_group(MPI_Group group, const char* name, MPI_Info info,
                                   MPI_Errhandler handler, MPI_Comm* made) {
  CONTEND_CALL_OF(Comm_create_from_group, (group, name, info, handler, made));
  await_members(MPI_COMM_WORLD, group, -1, (int)(salt_of(name) & INT32_MAX));
  int result = REAL(Comm_create_from_group)(group, name, info, handler, made);
  contend_leave(&call);
  bool all = false;
  if (result == MPI_SUCCESS && *made != MPI_COMM_NULL) {
    contend_live_communicator* live = add(*made, (origin){world, salt_of(name)}, NULL);
    all = live->world_ranks == NULL && live->size == world->size;
  }
  if (result == MPI_SUCCESS)
    contend_note(&call, CONTEND_WORLD, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
  contend_unlock();
  if (all) contend_met_all_ranks(*made, name);
  contend_this_thread.inside = false;
  return result;
}

int contend_Intercomm_create_from_groups(MPI_Group local, int local_leader, MPI_Group remote,
                                         int remote_leader, const char* name, MPI_Info info,
                                         MPI_Errhandler handler, MPI_Comm* made) {
  CONTEND_CALL_OF(Intercomm_create_from_groups,
                  (local, local_leader, remote, remote_leader, name, info, handler, made));
  int tag = (int)(salt_of(name) & INT32_MAX);
  await_members(MPI_COMM_WORLD, remote, -1, tag);
  await_members(MPI_COMM_WORLD, local, local_leader, tag);
  int result = REAL(Intercomm_create_from_groups)(local, local_leader, remote, remote_leader, name,
                                                  info, handler, made);
  contend_leave(&call);
  note_made_by_members(&call, result, MPI_COMM_WORLD, salt_of(name), made);
  return result;
}
#endif

/// A communicator that is still being made: its handle is there, which may not be used yet, and
/// everything about it is known from its parent. Where the program wanted the handle is no place to
/// look later: Fortran's interfaces have it in a variable of their own that is gone by then.
static int note_made_later(contend_call* call, int result, MPI_Comm parent_handle,
                           const MPI_Comm* made, const MPI_Request* request) {
  contend_leave(call);
  if (result == MPI_SUCCESS) {
    contend_live_communicator* parent = contend_find(parent_handle);
    // Its number among collectives is how many there were before it.
    contend_request* made_request =
        contend_new_request(*request, parent, CONTEND_COLLECTIVE, false);
    uint32_t number = made_request->number;
    made_request->routine = call->routine;
    made_request->bytes = CONTEND_UNKNOWN_BYTES;
    uint64_t salt = count_made(parent, call->routine);
    if (*made != MPI_COMM_NULL)
      add_like(CONTEND_KEY(*made), parent_handle, (origin){parent, salt}, NULL);
    uint32_t cell = contend_count(call, parent->index, 0, 0);
    contend_keep(call, cell, CONTEND_CALL, 0, CONTEND_NO_PEER, 0, number, 0, CONTEND_NO_TURN);
  }
  contend_done();
  return result;
}

int contend_Comm_idup(MPI_Comm parent, MPI_Comm* made, MPI_Request* request) {
  CONTEND_CALL_OF(Comm_idup, (parent, made, request));
  int result = REAL(Comm_idup)(parent, made, request);
  return note_made_later(&call, result, parent, made, request);
}

#if CONTEND_MPI_4
int contend_Comm_idup_with_info(MPI_Comm parent, MPI_Info info, MPI_Comm* made,
                                MPI_Request* request) {
  CONTEND_CALL_OF(Comm_idup_with_info, (parent, info, made, request));
  int result = REAL(Comm_idup_with_info)(parent, info, made, request);
  return note_made_later(&call, result, parent, made, request);
}
#endif

/// Forgets a handle before it is freed: afterwards another thread may be given the same one.
uint32_t contend_forget(uint64_t key) {
  uint32_t index = CONTEND_WORLD;
  contend_live_communicator** link = slot_of(key);
  while (*link && (*link)->key != key) link = &(*link)->next;
  contend_live_communicator* live = *link;
  // A program that may not free these is told so by the library.
  if (live == NULL || live->index == CONTEND_WORLD || live->index == CONTEND_SELF) return index;
  index = live->index;
  *link = live->next;
  if (contend_last_communicator == live) contend_last_communicator = world;
  contend_release(live);
  return index;
}

#define FREES(name, together)                                                              \
  int contend_##name(MPI_Comm* handle) {                                                   \
    CONTEND_CALL_WITH(handle, name, (handle));                                             \
    if (together) contend_await_members(*handle);                                          \
    contend_lock();                                                                        \
    uint32_t index = contend_forget(CONTEND_KEY(*handle));                                 \
    contend_unlock();                                                                      \
    int result = REAL(name)(handle);                                                       \
    contend_leave(&call);                                                                  \
    if (result == MPI_SUCCESS) {                                                           \
      if (together && index != CONTEND_OTHERS) contend.communicators[index].collectives++; \
      contend_note(&call, index, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);               \
    }                                                                                      \
    contend_done();                                                                        \
    return result;                                                                         \
  }

FREES(Comm_free, false)
// It waits for all messages, and libraries wait for all members.
FREES(Comm_disconnect, true)

static void note_name(MPI_Comm handle, const char* name) {
  contend_communicator* record = &contend.communicators[contend_find(handle)->index];
  if (record != &contend.communicators[CONTEND_OTHERS])
    strncpy(record->name, name, sizeof record->name - 1);
}
CONTEND_RECORDS(Comm_set_name, (MPI_Comm handle, const char* name), (handle, name), (void)0,
                note_name(handle, name))

// ---- windows and files

/// Makes known what all members of a communicator have made of it with a call.
static contend_live_communicator* add_made(const contend_call* call, MPI_Comm handle, uint64_t key,
                                           const char* what) {
  contend_live_communicator* parent = contend_find(handle);
  char name[sizeof contend.communicators->name];
  snprintf(name, sizeof name, "%s of %.23s", what, contend.communicators[parent->index].name);
  origin from = {parent, count_made(parent, call->routine)};
  contend_note(call, parent->index, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
  return add_like(key, handle, from, name);
}

void contend_add_file(const contend_call* call, MPI_Comm handle, uint64_t key) {
  add_made(call, handle, key, "a file");
}

void contend_add_window(const contend_call* call, MPI_Comm handle, uint64_t key) {
  contend_live_communicator* made = add_made(call, handle, key, "a window");
  made->kind = CONTEND_WINDOW;
  if (made->index == CONTEND_OTHERS) return;
  contend_communicator* record = &contend.communicators[made->index];
  if (record->kind != CONTEND_WINDOW) memset(record->extent, 0, sizeof record->extent);
  if (record->kind != CONTEND_WINDOW) record->dimensions = 0;
  record->kind = CONTEND_WINDOW;
}

int32_t* contend_ranks_of(MPI_Group group, int32_t* count) {
  MPI_Group all = contend_world_group();
  ranks_of_group found = ranks_of(group, all);
  if (all != MPI_GROUP_NULL) ((int (*)(MPI_Group*))contend_symbol("PMPI_Group_free"))(&all);
  *count = found.size;
  if (found.ranks) return found.ranks;
  found.ranks = malloc((size_t)found.size * sizeof *found.ranks + 1);
  if (found.ranks == NULL) abort();
  for (int32_t rank = 0; rank < found.size; rank++) found.ranks[rank] = rank;
  return found.ranks;
}
