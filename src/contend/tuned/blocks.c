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

contend_block contend_incoming(const contend_blocks* blocks, int rank) {
  return block_of(blocks, &blocks->receive, rank);
}

contend_block contend_outgoing(const contend_blocks* blocks, int rank) {
  if (!blocks->in_place) return block_of(blocks, &blocks->send, rank);
  int64_t begin = rank ? blocks->packed_ends[rank - 1] : 0;
  return (contend_block){blocks->packed + begin, blocks->packed_ends[rank] - begin, MPI_PACKED};
}

static int measure(contend_side* side) {
  MPI_Aint lower;
  MPI_Count size = 0;
  int result = contend_library.Type_size_x(side->type, &size);
  side->size = size;
  return result ? result : contend_library.Type_get_extent(side->type, &lower, &side->extent);
}

int contend_measure_blocks(contend_blocks* blocks) {
  if (blocks->kind == CONTEND_TYPED) return MPI_SUCCESS;
  int result = measure(&blocks->receive);
  return result || blocks->in_place ? result : measure(&blocks->send);
}

static uint64_t bytes_in(contend_block block) {
  MPI_Count size = 0;
  if (block.count) contend_library.Type_size_x(block.type, &size);
  return (uint64_t)block.count * (uint64_t)size;
}

uint64_t contend_mean_bytes(const contend_blocks* blocks, const contend_members* members) {
  const contend_side* side = blocks->in_place ? &blocks->receive : &blocks->send;
  uint64_t sum = 0;
  for (int rank = 0; rank < members->size; rank++)
    if (rank != members->rank) sum += bytes_in(block_of(blocks, side, rank));
  return sum / (uint64_t)(members->size > 1 ? members->size - 1 : 1);
}

int contend_pack(contend_blocks* blocks, const contend_members* members) {
  int64_t room = 0, used = 0;
  for (int rank = 0; rank < members->size; rank++) {
    contend_block block = contend_incoming(blocks, rank);
    int bytes = 0;
    if (block.count > INT_MAX || bytes_in(block) > INT_MAX) return MPI_ERR_COUNT;
    int result =
        block.count && rank != members->rank
            ? contend_library.Pack_size((int)block.count, block.type, members->comm, &bytes)
            : MPI_SUCCESS;
    if (result) return result;
    room += bytes;
  }
  if (blocks->packed == NULL) blocks->packed = contend_room((size_t)room);
  if (blocks->packed_ends == NULL)
    blocks->packed_ends = contend_room((size_t)members->size * sizeof *blocks->packed_ends);
  for (int rank = 0; rank < members->size; rank++) {
    contend_block block = contend_incoming(blocks, rank);
    if (block.count && rank != members->rank) {
      int length = 0;
      int left = room - used > INT_MAX ? INT_MAX : (int)(room - used);
      int result = contend_library.Pack(block.data, (int)block.count, block.type,
                                        blocks->packed + used, left, &length, members->comm);
      if (result) return result;
      used += length;
    }
    blocks->packed_ends[rank] = used;
  }
  return MPI_SUCCESS;
}

void contend_free_packed(contend_blocks* blocks) {
  free(blocks->packed);
  free(blocks->packed_ends);
  blocks->packed = NULL;
  blocks->packed_ends = NULL;
}

static const void* copied(const void* array, int count, size_t bytes) {
  if (array == NULL) return NULL;
  void* copy = contend_room((size_t)count * bytes);
  return memcpy(copy, array, (size_t)count * bytes);
}

/// A datatype of the program's lives as long as somebody needs it; predefined ones always do.
static int kept_type(MPI_Datatype* type) {
  int integers, addresses, types, combiner;
  int result = contend_library.Type_get_envelope(*type, &integers, &addresses, &types, &combiner);
  if (result || combiner == MPI_COMBINER_NAMED) return result;
  return contend_library.Type_dup(*type, type);
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

int contend_send(contend_block block, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
#if CONTEND_BIG_COUNTS
  if (block.count > INT_MAX)
    return REAL(Isend_c)(block.data, block.count, block.type, rank, tag, comm, request);
#else
  if (block.count > INT_MAX) return MPI_ERR_COUNT;
#endif
  return REAL(Isend)(block.data, (int)block.count, block.type, rank, tag, comm, request);
}

int contend_receive(contend_block block, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
#if CONTEND_BIG_COUNTS
  if (block.count > INT_MAX)
    return REAL(Irecv_c)(block.data, block.count, block.type, rank, tag, comm, request);
#else
  if (block.count > INT_MAX) return MPI_ERR_COUNT;
#endif
  return REAL(Irecv)(block.data, (int)block.count, block.type, rank, tag, comm, request);
}

int contend_copy_own(const contend_blocks* blocks, const contend_members* members, int tag) {
  if (blocks->in_place) return MPI_SUCCESS;
  contend_block out = contend_outgoing(blocks, members->rank);
  contend_block in = contend_incoming(blocks, members->rank);
  if (out.count == 0 || in.count == 0) return MPI_SUCCESS;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int result = contend_receive(in, members->rank, tag, members->comm, &requests[0]);
  if (!result) result = contend_send(out, members->rank, tag, members->comm, &requests[1]);
  return result ? result : REAL(Waitall)(2, requests, MPI_STATUSES_IGNORE);
}
