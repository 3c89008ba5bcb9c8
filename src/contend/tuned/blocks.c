// What is sent to each rank and received from it: where it lies, and that it stays there.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tuned.h"

static int64_t number_at(const void* numbers, bool wide, int index) {
  return wide ? (int64_t)((const MPI_Count*)numbers)[index] : ((const int*)numbers)[index];
}

static int64_t place_at(const void* places, bool wide, int index) {
  return wide ? (int64_t)((const MPI_Aint*)places)[index] : ((const int*)places)[index];
}

static contend_block block_of(const contend_blocks* blocks, const contend_side* side, int rank) {
  // Addresses are added as numbers: data may be MPI_BOTTOM, and places negative.
  uintptr_t data = (uintptr_t)side->data;
  if (blocks->kind == CONTEND_EVEN) {
    uintptr_t offset = (uintptr_t)((int64_t)rank * side->count * side->extent);
    return (contend_block){(char*)(data + offset), side->size ? side->count : 0, side->type};
  }
  int64_t count = number_at(side->counts, blocks->wide, rank);
  int64_t place = place_at(side->places, blocks->wide, rank);
  if (blocks->kind == CONTEND_UNEVEN) {
    uintptr_t offset = (uintptr_t)(place * side->extent);
    return (contend_block){(char*)(data + offset), side->size ? count : 0, side->type};
  }
  MPI_Datatype type = side->types[rank];
  MPI_Count size = 0;
  if (count) contend_library.Type_size_x(type, &size);
  return (contend_block){(char*)(data + (uintptr_t)place), size ? count : 0, type};
}

static uint64_t bytes_in(contend_block block) {
  MPI_Count size = 0;
  if (block.count) contend_library.Type_size_x(block.type, &size);
  return (uint64_t)block.count * (uint64_t)size;
}

static contend_block incoming(const contend_blocks* blocks, int rank) {
  return block_of(blocks, &blocks->receive, rank);
}

static contend_block outgoing(const contend_blocks* blocks, int rank) {
  return blocks->in_place ? blocks->kept[rank] : block_of(blocks, &blocks->send, rank);
}

/// Whether a library refuses a block, or crashes by it, whatever other ranks do.
static bool is_bad_block(const contend_blocks* blocks, const contend_side* side, int rank) {
  int64_t count =
      blocks->kind == CONTEND_EVEN ? side->count : number_at(side->counts, blocks->wide, rank);
  MPI_Datatype type = blocks->kind == CONTEND_TYPED ? side->types[rank] : side->type;
  if (count <= 0) return count < 0;
  if (type == MPI_DATATYPE_NULL) return true;
  if (side->data != NULL) return false;
  // Types of absolute addresses begin at MPI_BOTTOM, which is NULL; there is no int there.
  int integers, addresses, types, combiner;
  if (contend_library.Type_get_envelope(type, &integers, &addresses, &types, &combiner))
    return true;
  int64_t place = blocks->kind == CONTEND_EVEN ? 0 : place_at(side->places, blocks->wide, rank);
  return combiner == MPI_COMBINER_NAMED && place == 0;
}

/// A message to nobody: the library says whether it takes a datatype.
static bool is_bad_type(MPI_Datatype type, const contend_members* members) {
  return contend_library.Send(members, 1, type, MPI_PROC_NULL, CONTEND_TAG, members->comm) !=
         MPI_SUCCESS;
}

static bool is_bad_side(const contend_blocks* blocks, const contend_side* side,
                        const contend_members* members) {
  bool even = blocks->kind == CONTEND_EVEN, typed = blocks->kind == CONTEND_TYPED;
  if (side->data == MPI_IN_PLACE) return true;
  if (!even && (side->counts == NULL || side->places == NULL)) return true;
  if (typed ? side->types == NULL : side->type == MPI_DATATYPE_NULL) return true;
  if (!typed && is_bad_type(side->type, members)) return true;
  for (int rank = 0; rank < (even ? 1 : members->size); rank++) {
    if (is_bad_block(blocks, side, rank)) return true;
    if (typed && number_at(side->counts, blocks->wide, rank) &&
        is_bad_type(side->types[rank], members))
      return true;
  }
  return false;
}

bool contend_are_refused(const contend_blocks* blocks, const contend_members* members) {
  if (is_bad_side(blocks, &blocks->receive, members)) return true;
  if (blocks->in_place) return false;
#ifndef OPEN_MPI
  if (blocks->kind == CONTEND_EVEN && blocks->send.data == blocks->receive.data &&
      blocks->send.data != NULL && blocks->send.count)
    return true;
#endif
  if (is_bad_side(blocks, &blocks->send, members)) return true;
  // A block for this rank itself that does not fit libraries tell before they send anything, or by
  // another handler than that of a request: it is left to them.
  contend_blocks measured = *blocks;
  if (contend_measure_blocks(&measured)) return true;
  return bytes_in(block_of(&measured, &measured.send, members->rank)) >
         bytes_in(block_of(&measured, &measured.receive, members->rank));
}

static int measure(contend_side* side) {
  MPI_Aint lower;
  MPI_Count size = 0;
  int result = contend_library.Type_size_x(side->type, &size);
  side->size = size;
  return result ? result : contend_library.Type_get_extent(side->type, &lower, &side->extent);
}

int contend_measure_blocks(contend_blocks* blocks) {
  blocks->skips_empty = true;
  if (blocks->kind == CONTEND_TYPED) return MPI_SUCCESS;
  int result = measure(&blocks->receive);
  if (!result && !blocks->in_place) result = measure(&blocks->send);
  // Where one side alone is empty, which is a mistake, messages without data keep ranks from
  // waiting for each other.
  if (blocks->kind == CONTEND_EVEN && !blocks->in_place)
    blocks->skips_empty = blocks->receive.count * blocks->receive.size == 0 &&
                          blocks->send.count * blocks->send.size == 0;
  return result;
}

uint64_t contend_mean_bytes(const contend_blocks* blocks, const contend_members* members) {
  const contend_side* side = blocks->in_place ? &blocks->receive : &blocks->send;
  uint64_t sum = 0;
  for (int rank = 0; rank < members->size; rank++)
    if (rank != members->rank) sum += bytes_in(block_of(blocks, side, rank));
  return sum / (uint64_t)(members->size > 1 ? members->size - 1 : 1);
}

// Blocks above this are copied as they lie: MPI_Pack counts bytes by an int.
#define MOST_PACKED ((int64_t)1 << 30)

/// Where a block's data begins, from its address on, and how many bytes it lies in.
static int span_of(contend_block block, int64_t* first, int64_t* bytes) {
  MPI_Aint lower, extent = 0, true_lower = 0, true_extent = 0;
  int result = contend_library.Type_get_extent(block.type, &lower, &extent);
  if (!result) result = contend_library.Type_get_true_extent(block.type, &true_lower, &true_extent);
  int64_t further = (block.count - 1) * (int64_t)extent;
  *first = true_lower + (further < 0 ? further : 0);
  *bytes = true_extent + (further < 0 ? -further : further);
  return result;
}

/// How much room a block takes that is kept, and how it is kept.
static int room_for(contend_block block, MPI_Comm comm, bool* packed, int64_t* first,
                    int64_t* bytes) {
  int most = 0;
  *packed = block.count <= INT_MAX && bytes_in(block) <= (uint64_t)MOST_PACKED;
  if (!*packed) return span_of(block, first, bytes);
  int result = contend_library.Pack_size((int)block.count, block.type, comm, &most);
  *bytes = most;
  return result;
}

static int begin(contend_block block, bool sends, int rank, int tag, MPI_Comm comm,
                 MPI_Request* request) {
#if CONTEND_BIG_COUNTS
  if (block.count > INT_MAX)
    return sends ? REAL(Isend_c)(block.data, block.count, block.type, rank, tag, comm, request)
                 : REAL(Irecv_c)(block.data, block.count, block.type, rank, tag, comm, request);
#else
  if (block.count > INT_MAX) return MPI_ERR_COUNT;
#endif
  int count = (int)block.count;
  return sends ? REAL(Isend)(block.data, count, block.type, rank, tag, comm, request)
               : REAL(Irecv)(block.data, count, block.type, rank, tag, comm, request);
}

static int copy_block(contend_block out, contend_block in, const contend_members* members,
                      int tag) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int result = begin(in, false, members->rank, tag, members->comm, &requests[0]);
  contend_note(&result, begin(out, true, members->rank, tag, members->comm, &requests[1]));
  for (int index = 0; index < 2; index++)
    contend_note(&result, REAL(Wait)(&requests[index], MPI_STATUS_IGNORE));
  return result;
}

static int keep_block(contend_block block, char* room, bool packed, int64_t first, int64_t bytes,
                      const contend_members* members, contend_block* kept) {
  if (!packed) {
    *kept = (contend_block){(char*)((uintptr_t)room - (uintptr_t)first), block.count, block.type};
    return copy_block(block, *kept, members, CONTEND_TAG);
  }
  int length = 0;
  int result = contend_library.Pack(block.data, (int)block.count, block.type, room, (int)bytes,
                                    &length, members->comm);
  *kept = (contend_block){room, length, MPI_PACKED};
  return result;
}

int contend_pack(contend_blocks* blocks, const contend_members* members) {
  int64_t room = 0, used = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int rank = 0; rank < members->size; rank++) {
      contend_block block = incoming(blocks, rank);
      int64_t first = 0, bytes = 0;
      bool packed = true, empty = block.count == 0 || rank == members->rank;
      int result = empty ? MPI_SUCCESS : room_for(block, members->comm, &packed, &first, &bytes);
      if (!result && pass && empty) blocks->kept[rank] = (contend_block){NULL, 0, MPI_PACKED};
      if (!result && pass && !empty)
        result = keep_block(block, blocks->packed + used, packed, first, bytes, members,
                            &blocks->kept[rank]);
      if (result) return result;
      if (pass) used += bytes;
      room += bytes;
    }
    // A persistent request's room serves again.
    if (blocks->packed == NULL) blocks->packed = contend_room((size_t)room);
    if (blocks->kept == NULL)
      blocks->kept = contend_room((size_t)members->size * sizeof *blocks->kept);
  }
  return MPI_SUCCESS;
}

void contend_free_packed(contend_blocks* blocks) {
  free(blocks->packed);
  free(blocks->kept);
  blocks->packed = NULL;
  blocks->kept = NULL;
}

static const void* copied(const void* array, int count, size_t bytes) {
  if (array == NULL) return NULL;
  void* copy = contend_room((size_t)count * bytes);
  return memcpy(copy, array, (size_t)count * bytes);
}

/// A datatype of the program's lives as long as another is made of it; predefined ones always do. A
/// duplicate would have copies of the program's attributes, and delete them when it goes.
static int kept_type(MPI_Datatype* type) {
  int integers, addresses, types, combiner;
  int result = contend_library.Type_get_envelope(*type, &integers, &addresses, &types, &combiner);
  if (result || combiner == MPI_COMBINER_NAMED) return result;
  result = contend_library.Type_contiguous(1, *type, type);
  return result ? result : contend_library.Type_commit(type);
}

static void free_type(MPI_Datatype type) {
  int integers, addresses, types, combiner;
  if (contend_library.Type_get_envelope(type, &integers, &addresses, &types, &combiner)) return;
  if (combiner != MPI_COMBINER_NAMED) REAL(Type_free)(&type);
}

static int keep(contend_side* side, bool wide, int ranks) {
  side->counts = copied(side->counts, ranks, wide ? sizeof(MPI_Count) : sizeof(int));
  side->places = copied(side->places, ranks, wide ? sizeof(MPI_Aint) : sizeof(int));
  if (side->types == NULL) return kept_type(&side->type);
  MPI_Datatype* types = (MPI_Datatype*)copied(side->types, ranks, sizeof *types);
  const void* counts = side->counts;
  side->types = types;
  for (int rank = 0; rank < ranks; rank++) {
    // Types of blocks without items may be anything.
    if (number_at(counts, wide, rank) == 0) continue;
    int result = kept_type(&types[rank]);
    if (result) return result;
  }
  return MPI_SUCCESS;
}

int contend_keep(contend_blocks* blocks, int ranks) {
  int result = keep(&blocks->receive, blocks->wide, ranks);
  if (result || blocks->in_place) return result;
  return keep(&blocks->send, blocks->wide, ranks);
}

static void free_kept(contend_side* side, bool wide, int ranks) {
  if (side->types == NULL) free_type(side->type);
  for (int rank = 0; side->types && rank < ranks; rank++)
    if (number_at(side->counts, wide, rank)) free_type(side->types[rank]);
  free((void*)side->counts);
  free((void*)side->places);
  free((void*)side->types);
}

void contend_free_kept(contend_blocks* blocks, int ranks) {
  free_kept(&blocks->receive, blocks->wide, ranks);
  if (!blocks->in_place) free_kept(&blocks->send, blocks->wide, ranks);
}

int contend_begin_message(const contend_blocks* blocks, const contend_members* members, bool sends,
                          int peer, int tag, MPI_Request* request) {
  contend_block block = sends ? outgoing(blocks, peer) : incoming(blocks, peer);
  *request = MPI_REQUEST_NULL;
  if (block.count == 0 && blocks->skips_empty) return MPI_SUCCESS;
  return begin(block, sends, peer, tag, members->comm, request);
}

int contend_copy_own(const contend_blocks* blocks, const contend_members* members, int tag) {
  if (blocks->in_place) return MPI_SUCCESS;
  contend_block out = outgoing(blocks, members->rank);
  contend_block in = incoming(blocks, members->rank);
  if (out.count == 0 && in.count == 0) return MPI_SUCCESS;
  return copy_block(out, in, members, tag);
}
