// The routines, included by alltoalls.c for each type that counts have: COUNT is the type of
// counts, PLACE that of displacements, NAMED(routine) the name. No include guard.

#define FUNCTION(name) CONTEND_FUNCTION(name)
#define CONTEND_FUNCTION(name) contend_##name

// One all-to-all in all its forms: `covered` says whether the rules may have it, `described` what
// is sent and received.
#if CONTEND_MPI_4
#define PERSISTENT(name, parameters, arguments, covered, described)                  \
  int FUNCTION(NAMED(name##_init))(OPEN parameters, MPI_Comm comm, MPI_Info info,    \
                                   MPI_Request * request) {                          \
    if (request != NULL && covered) {                                                \
      contend_blocks blocks = described;                                             \
      contend_members* members = contend_make_ready(comm);                           \
      carriage by = carriage_of(&blocks, members, true);                             \
      if (by.plan && members->persistent < CONTEND_TAGS) {                           \
        contend_count(by.schedule);                                                  \
        return contend_make_persistent(&blocks, by.members, by.plan, comm, request); \
      }                                                                              \
    }                                                                                \
    contend_count(CONTEND_LIBRARYS_OWN);                                             \
    contend_release();                                                               \
    return REAL(NAMED(name##_init))(OPEN arguments, comm, info, request);            \
  }
#else
#define PERSISTENT(name, parameters, arguments, covered, described)
#endif

#define ALL_TO_ALL(name, lower, parameters, arguments, covered, described)               \
  int FUNCTION(NAMED(name))(OPEN parameters, MPI_Comm comm) {                            \
    if (covered) {                                                                       \
      contend_blocks blocks = described;                                                 \
      carriage by = carriage_of(&blocks, contend_make_ready(comm), true);                \
      if (by.plan) return carried(&blocks, &by, comm);                                   \
    }                                                                                    \
    contend_count(CONTEND_LIBRARYS_OWN);                                                 \
    contend_release();                                                                   \
    return REAL(NAMED(name))(OPEN arguments, comm);                                      \
  }                                                                                      \
  int FUNCTION(NAMED(I##lower))(OPEN parameters, MPI_Comm comm, MPI_Request * request) { \
    if (contend_rules.nonblocking && request != NULL && covered) {                       \
      contend_blocks blocks = described;                                                 \
      carriage by = carriage_of(&blocks, contend_known_members(comm), false);            \
      if (by.plan) {                                                                     \
        contend_count(by.schedule);                                                      \
        return contend_begin(&blocks, by.members, by.plan, comm, request);               \
      }                                                                                  \
    }                                                                                    \
    contend_count(CONTEND_LIBRARYS_OWN);                                                 \
    return REAL(NAMED(I##lower))(OPEN arguments, comm, request);                         \
  }                                                                                      \
  PERSISTENT(name, parameters, arguments, covered, described)

// Of what is sent in place only the receiving side matters.
ALL_TO_ALL(Alltoall, alltoall,
           (const void* data, COUNT count, MPI_Datatype type, void* room, COUNT room_count,
            MPI_Datatype room_type),
           (data, count, type, room, room_count, room_type),
           may_cover(comm, data == MPI_IN_PLACE ? room_count : count,
                     data == MPI_IN_PLACE ? room_type : type),
           ((contend_blocks){.kind = CONTEND_EVEN,
                             .wide = WIDE,
                             .in_place = data == MPI_IN_PLACE,
                             .send = {.data = (char*)data, .count = count, .type = type},
                             .receive = {.data = room, .count = room_count, .type = room_type}}))

ALL_TO_ALL(Alltoallv, alltoallv,
           (const void* data, const COUNT counts[], const PLACE places[], MPI_Datatype type,
            void* room, const COUNT room_counts[], const PLACE room_places[],
            MPI_Datatype room_type),
           (data, counts, places, type, room, room_counts, room_places, room_type),
           may_cover_ranks(comm),
           ((contend_blocks){
               .kind = CONTEND_UNEVEN,
               .wide = WIDE,
               .in_place = data == MPI_IN_PLACE,
               .send = {.data = (char*)data, .counts = counts, .places = places, .type = type},
               .receive = {
                   .data = room, .counts = room_counts, .places = room_places, .type = room_type}}))

ALL_TO_ALL(
    Alltoallw, alltoallw,
    (const void* data, const COUNT counts[], const PLACE places[], const MPI_Datatype types[],
     void* room, const COUNT room_counts[], const PLACE room_places[],
     const MPI_Datatype room_types[]),
    (data, counts, places, types, room, room_counts, room_places, room_types),
    may_cover_ranks(comm),
    ((contend_blocks){
        .kind = CONTEND_TYPED,
        .wide = WIDE,
        .in_place = data == MPI_IN_PLACE,
        .send = {.data = (char*)data, .counts = counts, .places = places, .types = types},
        .receive = {
            .data = room, .counts = room_counts, .places = room_places, .types = room_types}}))

#undef ALL_TO_ALL
#undef PERSISTENT
#undef FUNCTION
#undef CONTEND_FUNCTION
#undef COUNT
#undef PLACE
#undef WIDE
#undef NAMED
