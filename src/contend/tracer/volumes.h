// Collectives with counts, included by collectives.c for each type that counts have: COUNT is the
// type of counts, DISPLACEMENT of displacements, NAMED(routine) the name. No include guard.

// Each blocking, nonblocking and, where there, persistent. `account` says what this rank gives.
#if CONTEND_MPI_4
#define PERSISTENT(name, parameters, arguments, account)                                  \
  int RECORDED(NAMED(name##_init))(OPEN parameters, MPI_Comm communicator, MPI_Info info, \
                                   MPI_Request * request) {                               \
    CONTEND_CALL_OF(NAMED(name##_init), (OPEN arguments, communicator, info, request));   \
    int result = REAL(NAMED(name##_init))(OPEN arguments, communicator, info, request);   \
    contend_leave(&call);                                                                 \
    if (result == MPI_SUCCESS) {                                                          \
      volume given = nothing_on(communicator);                                            \
      account;                                                                            \
      note_persistent(&call, &given, *request);                                           \
    }                                                                                     \
    contend_done();                                                                       \
    return result;                                                                        \
  }
#else
#define PERSISTENT(name, parameters, arguments, account)
#endif

#define COLLECTIVE(name, lower, parameters, arguments, shape_given, account)                     \
  int RECORDED(NAMED(name))(OPEN parameters, MPI_Comm communicator) {                            \
    CONTEND_CALL_OF(NAMED(name), (OPEN arguments, communicator));                                \
    contend_lock();                                                                              \
    const contend_live_communicator* on = contend_known(communicator);                           \
    contend_await_collective(on, shape_given);                                                   \
    contend_unlock();                                                                            \
    int result = REAL(NAMED(name))(OPEN arguments, communicator);                                \
    contend_leave(&call);                                                                        \
    if (contend_took_place(result)) {                                                            \
      volume given = nothing_on(communicator);                                                   \
      on = given.on;                                                                             \
      given.shape = shape_given;                                                                 \
      account;                                                                                   \
      note_blocking(&call, &given);                                                              \
    }                                                                                            \
    contend_done();                                                                              \
    return result;                                                                               \
  }                                                                                              \
  int RECORDED(NAMED(I##lower))(OPEN parameters, MPI_Comm communicator, MPI_Request * request) { \
    CONTEND_CALL_OF(NAMED(I##lower), (OPEN arguments, communicator, request));                   \
    int result = REAL(NAMED(I##lower))(OPEN arguments, communicator, request);                   \
    contend_leave(&call);                                                                        \
    if (result == MPI_SUCCESS) {                                                                 \
      volume given = nothing_on(communicator);                                                   \
      const contend_live_communicator* on = given.on;                                            \
      given.shape = shape_given;                                                                 \
      account;                                                                                   \
      note_nonblocking(&call, &given, *request);                                                 \
    }                                                                                            \
    contend_done();                                                                              \
    return result;                                                                               \
  }                                                                                              \
  PERSISTENT(name, parameters, arguments, account)

static void NAMED(to_all_of)(volume* given, const COUNT counts[], MPI_Datatype type) {
  uint64_t size = contend_size_of(type);
  for (int32_t peer = 0; peer < given->on->peer_count; peer++)
    add_part(given, peer, (uint64_t)counts[peer] * size);
}

static void NAMED(to_all_of_types)(volume* given, const COUNT counts[],
                                   const MPI_Datatype types[]) {
  for (int32_t peer = 0; peer < given->on->peer_count; peer++)
    if (counts[peer]) add_part(given, peer, (uint64_t)counts[peer] * contend_size_of(types[peer]));
}

static void NAMED(to_neighbours)(volume* given, const COUNT counts[], MPI_Datatype type) {
  const int32_t* neighbours;
  int32_t count = contend_neighbours(given->on, given->handle, &neighbours);
  for (int32_t index = 0; index < count; index++)
    add_part(given, neighbours[index], (uint64_t)counts[index] * contend_size_of(type));
}

static void NAMED(to_neighbours_types)(volume* given, const COUNT counts[],
                                       const MPI_Datatype types[]) {
  const int32_t* neighbours;
  int32_t count = contend_neighbours(given->on, given->handle, &neighbours);
  for (int32_t index = 0; index < count; index++)
    if (counts[index])
      add_part(given, neighbours[index], (uint64_t)counts[index] * contend_size_of(types[index]));
}

static uint64_t NAMED(sum)(const COUNT counts[], int32_t size) {
  uint64_t sum = 0;
  for (int32_t index = 0; index < size; index++) sum += (uint64_t)counts[index];
  return sum;
}

// What does not matter on a rank may be anything there, so it is not looked at.
COLLECTIVE(Bcast, bcast, (void* data, COUNT count, MPI_Datatype type, int root),
           (data, count, type, root), SAME_SHAPE(root, 0, contend_known_bytes(count, type)),
           from_root(&given, root, bytes_of(count, type)))
COLLECTIVE(Gather, gather,
           (const void* data, COUNT count, MPI_Datatype type, void* room, COUNT room_count,
            MPI_Datatype room_type, int root),
           (data, count, type, room, room_count, room_type, root),
           SAME_SHAPE(root, 0,
                      data == MPI_IN_PLACE ? contend_known_bytes(room_count, room_type)
                                           : contend_known_bytes(count, type)),
           if (data == MPI_IN_PLACE || root == MPI_ROOT)
               to_root(&given, root, bytes_of(room_count, room_type));
           else if (root != MPI_PROC_NULL) to_root(&given, root, bytes_of(count, type)))
COLLECTIVE(Gatherv, gatherv,
           (const void* data, COUNT count, MPI_Datatype type, void* room, const COUNT counts[],
            const DISPLACEMENT displacements[], MPI_Datatype room_type, int root),
           (data, count, type, room, counts, displacements, room_type, root), LOOSE_SHAPE(root, 0),
           if (data == MPI_IN_PLACE)
               to_root(&given, root, bytes_of(counts[given.on->rank], room_type));
           else if (root == MPI_ROOT)
               to_root(&given, root,
                       NAMED(sum)(counts, given.on->peer_count) * contend_size_of(room_type));
           else if (root != MPI_PROC_NULL) to_root(&given, root, bytes_of(count, type)))
COLLECTIVE(Scatter, scatter,
           (const void* data, COUNT count, MPI_Datatype type, void* room, COUNT room_count,
            MPI_Datatype room_type, int root),
           (data, count, type, room, room_count, room_type, root),
           SHAPE(root, 0, contend_known_bytes(count, type),
                 contend_known_bytes(room_count, room_type)),
           if (is_root(&given, root)) to_all(&given, bytes_of(count, type), false);
           else if (root != MPI_PROC_NULL) given.bytes = bytes_of(room_count, room_type);
           set_root(&given, root))
COLLECTIVE(Scatterv, scatterv,
           (const void* data, const COUNT counts[], const DISPLACEMENT displacements[],
            MPI_Datatype type, void* room, COUNT room_count, MPI_Datatype room_type, int root),
           (data, counts, displacements, type, room, room_count, room_type, root),
           LOOSE_SHAPE(root, 0), if (is_root(&given, root)) NAMED(to_all_of)(&given, counts, type);
           else if (root != MPI_PROC_NULL) given.bytes = bytes_of(room_count, room_type);
           set_root(&given, root))
COLLECTIVE(Allgather, allgather,
           (const void* data, COUNT count, MPI_Datatype type, void* room, COUNT room_count,
            MPI_Datatype room_type),
           (data, count, type, room, room_count, room_type),
           SAME_SHAPE(NO_ROOT, 0,
                      data == MPI_IN_PLACE ? contend_known_bytes(room_count, room_type)
                                           : contend_known_bytes(count, type)),
           given.bytes = data == MPI_IN_PLACE ? bytes_of(room_count, room_type)
                                              : bytes_of(count, type))
COLLECTIVE(Allgatherv, allgatherv,
           (const void* data, COUNT count, MPI_Datatype type, void* room, const COUNT counts[],
            const DISPLACEMENT displacements[], MPI_Datatype room_type),
           (data, count, type, room, counts, displacements, room_type), LOOSE_SHAPE(NO_ROOT, 0),
           given.bytes = data == MPI_IN_PLACE ? bytes_of(counts[given.on->rank], room_type)
                                              : bytes_of(count, type))
COLLECTIVE(Alltoall, alltoall,
           (const void* data, COUNT count, MPI_Datatype type, void* room, COUNT room_count,
            MPI_Datatype room_type),
           (data, count, type, room, room_count, room_type),
           SAME_SHAPE(NO_ROOT, 0,
                      data == MPI_IN_PLACE ? contend_known_bytes(room_count, room_type)
                                           : contend_known_bytes(count, type)),
           to_all(&given,
                  data == MPI_IN_PLACE ? bytes_of(room_count, room_type) : bytes_of(count, type),
                  false))
COLLECTIVE(Alltoallv, alltoallv,
           (const void* data, const COUNT counts[], const DISPLACEMENT displacements[],
            MPI_Datatype type, void* room, const COUNT room_counts[],
            const DISPLACEMENT room_displacements[], MPI_Datatype room_type),
           (data, counts, displacements, type, room, room_counts, room_displacements, room_type),
           LOOSE_SHAPE(NO_ROOT, 0),
           if (data == MPI_IN_PLACE) NAMED(to_all_of)(&given, room_counts, room_type);
           else NAMED(to_all_of)(&given, counts, type))
COLLECTIVE(Alltoallw, alltoallw,
           (const void* data, const COUNT counts[], const WIDE_DISPLACEMENT displacements[],
            const MPI_Datatype types[], void* room, const COUNT room_counts[],
            const WIDE_DISPLACEMENT room_displacements[], const MPI_Datatype room_types[]),
           (data, counts, displacements, types, room, room_counts, room_displacements, room_types),
           LOOSE_SHAPE(NO_ROOT, 0),
           if (data == MPI_IN_PLACE) NAMED(to_all_of_types)(&given, room_counts, room_types);
           else NAMED(to_all_of_types)(&given, counts, types))
COLLECTIVE(Reduce, reduce,
           (const void* data, void* room, COUNT count, MPI_Datatype type, MPI_Op operation,
            int root),
           (data, room, count, type, operation, root),
           SAME_SHAPE(root, operation_of(operation), contend_known_bytes(count, type)),
           if (root != MPI_PROC_NULL) to_root(&given, root, bytes_of(count, type)))
COLLECTIVE(Allreduce, allreduce,
           (const void* data, void* room, COUNT count, MPI_Datatype type, MPI_Op operation),
           (data, room, count, type, operation),
           SAME_SHAPE(NO_ROOT, operation_of(operation), contend_known_bytes(count, type)),
           given.bytes = bytes_of(count, type))
COLLECTIVE(Reduce_scatter, reduce_scatter,
           (const void* data, void* room, const COUNT counts[], MPI_Datatype type,
            MPI_Op operation),
           (data, room, counts, type, operation), LOOSE_SHAPE(NO_ROOT, operation_of(operation)),
           given.bytes = NAMED(sum)(counts, given.on->size) * contend_size_of(type))
COLLECTIVE(Reduce_scatter_block, reduce_scatter_block,
           (const void* data, void* room, COUNT count, MPI_Datatype type, MPI_Op operation),
           (data, room, count, type, operation),
           SAME_SHAPE(NO_ROOT, operation_of(operation), contend_known_bytes(count, type)),
           given.bytes = bytes_of(count, type) * (uint64_t)given.on->size)
COLLECTIVE(Scan, scan,
           (const void* data, void* room, COUNT count, MPI_Datatype type, MPI_Op operation),
           (data, room, count, type, operation),
           SAME_SHAPE(NO_ROOT, operation_of(operation), contend_known_bytes(count, type)),
           given.bytes = bytes_of(count, type))
COLLECTIVE(Exscan, exscan,
           (const void* data, void* room, COUNT count, MPI_Datatype type, MPI_Op operation),
           (data, room, count, type, operation),
           SAME_SHAPE(NO_ROOT, operation_of(operation), contend_known_bytes(count, type)),
           given.bytes = bytes_of(count, type))
COLLECTIVE(Neighbor_allgather, neighbor_allgather,
           (const void* data, COUNT count, MPI_Datatype type, void* room, COUNT room_count,
            MPI_Datatype room_type),
           (data, count, type, room, room_count, room_type), LOOSE_SHAPE(NO_ROOT, 0),
           to_each_neighbour(&given, bytes_of(count, type)))
COLLECTIVE(Neighbor_allgatherv, neighbor_allgatherv,
           (const void* data, COUNT count, MPI_Datatype type, void* room, const COUNT counts[],
            const DISPLACEMENT displacements[], MPI_Datatype room_type),
           (data, count, type, room, counts, displacements, room_type), LOOSE_SHAPE(NO_ROOT, 0),
           to_each_neighbour(&given, bytes_of(count, type)))
COLLECTIVE(Neighbor_alltoall, neighbor_alltoall,
           (const void* data, COUNT count, MPI_Datatype type, void* room, COUNT room_count,
            MPI_Datatype room_type),
           (data, count, type, room, room_count, room_type), LOOSE_SHAPE(NO_ROOT, 0),
           to_each_neighbour(&given, bytes_of(count, type)))
COLLECTIVE(Neighbor_alltoallv, neighbor_alltoallv,
           (const void* data, const COUNT counts[], const DISPLACEMENT displacements[],
            MPI_Datatype type, void* room, const COUNT room_counts[],
            const DISPLACEMENT room_displacements[], MPI_Datatype room_type),
           (data, counts, displacements, type, room, room_counts, room_displacements, room_type),
           LOOSE_SHAPE(NO_ROOT, 0), NAMED(to_neighbours)(&given, counts, type))
COLLECTIVE(Neighbor_alltoallw, neighbor_alltoallw,
           (const void* data, const COUNT counts[], const MPI_Aint displacements[],
            const MPI_Datatype types[], void* room, const COUNT room_counts[],
            const MPI_Aint room_displacements[], const MPI_Datatype room_types[]),
           (data, counts, displacements, types, room, room_counts, room_displacements, room_types),
           LOOSE_SHAPE(NO_ROOT, 0), NAMED(to_neighbours_types)(&given, counts, types))

#undef PERSISTENT
#undef COLLECTIVE
#undef COUNT
#undef DISPLACEMENT
#undef WIDE_DISPLACEMENT
#undef NAMED
