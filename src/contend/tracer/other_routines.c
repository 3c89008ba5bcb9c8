// What else can wait for others, or copies: counted, and as events where it can take long. None of
// these is of a request or a message that the recorder follows.
#include "handles.h"

/// `communicator` is that of the call, `bytes` what it copies.
#define TIMED(name, parameters, arguments, communicator, bytes)                                  \
  CONTEND_RECORDS(name, parameters, arguments, ,                                                 \
                  contend_note(&call, contend_find(communicator)->index, bytes, CONTEND_NO_PEER, \
                               0, CONTEND_NO_REQUEST))
#define ON_WORLD(name, parameters, arguments) TIMED(name, parameters, arguments, MPI_COMM_WORLD, 0)

static inline uint64_t bytes_of(int64_t count, MPI_Datatype type) {
  return count > 0 ? (uint64_t)count * contend_size_of(type) : 0;
}

ON_WORLD(Buffer_attach, (void* buffer, int bytes), (buffer, bytes))
ON_WORLD(Buffer_detach, (void* buffer, int* bytes), (buffer, bytes))
#if CONTEND_BIG_COUNTS
ON_WORLD(Buffer_attach_c, (void* buffer, MPI_Count bytes), (buffer, bytes))
ON_WORLD(Buffer_detach_c, (void* buffer, MPI_Count* bytes), (buffer, bytes))
#endif
ON_WORLD(Alloc_mem, (MPI_Aint bytes, MPI_Info info, void* base), (bytes, info, base))
ON_WORLD(Free_mem, (void* base), (base))
ON_WORLD(Win_attach, (MPI_Win window, void* base, MPI_Aint bytes), (window, base, bytes))
ON_WORLD(Win_detach, (MPI_Win window, const void* base), (window, base))
ON_WORLD(Win_set_info, (MPI_Win window, MPI_Info info), (window, info))
TIMED(Comm_set_info, (MPI_Comm of, MPI_Info info), (of, info), of, 0)

// ---- processes that are not there from the beginning

// The processes begin within the call.
static inline void count_spawn(void) {
  contend_lock();
  contend.header->spawns++;
  contend_unlock();
}

/// Of all members of a communicator, and of other processes.
#define TOGETHER(before, name, parameters, arguments, from)                           \
  CONTEND_RECORDS(name, parameters, arguments, (before, contend_await_members(from)), \
                  contend_note_together(&call, contend_find(from)))

TOGETHER(count_spawn(), Comm_spawn,
         (const char* command, char* words[], int processes, MPI_Info info, int root, MPI_Comm from,
          MPI_Comm* made, int errors[]),
         (command, words, processes, info, root, from, made, errors), from)
TOGETHER(count_spawn(), Comm_spawn_multiple,
         (int count, char* commands[], char** words[], const int processes[],
          const MPI_Info infos[], int root, MPI_Comm from, MPI_Comm* made, int errors[]),
         (count, commands, words, processes, infos, root, from, made, errors), from)
TOGETHER((void)0, Comm_accept,
         (const char* port, MPI_Info info, int root, MPI_Comm from, MPI_Comm* made),
         (port, info, root, from, made), from)
TOGETHER((void)0, Comm_connect,
         (const char* port, MPI_Info info, int root, MPI_Comm from, MPI_Comm* made),
         (port, info, root, from, made), from)
ON_WORLD(Comm_join, (int socket, MPI_Comm* made), (socket, made))
ON_WORLD(Open_port, (MPI_Info info, char* port), (info, port))
ON_WORLD(Close_port, (const char* port), (port))
ON_WORLD(Publish_name, (const char* service, MPI_Info info, const char* port),
         (service, info, port))
ON_WORLD(Unpublish_name, (const char* service, MPI_Info info, const char* port),
         (service, info, port))
ON_WORLD(Lookup_name, (const char* service, MPI_Info info, char* port), (service, info, port))

// ---- copies in memory: only counted, as they may be many and end when they have been carried out

#define COPIES(name, parameters, arguments, communicator, bytes)             \
  CONTEND_RECORDS(name, parameters, arguments, uint64_t amount = 0, {        \
    amount = bytes;                                                          \
    contend_count(&call, contend_find(communicator)->index, amount, amount); \
  })
#define PACKING(name, COUNT, PLACE, EXTERNAL)                                                      \
  COPIES(Pack##name,                                                                               \
         (const void* data, COUNT count, MPI_Datatype type, void* packed, COUNT room, PLACE place, \
          MPI_Comm on),                                                                            \
         (data, count, type, packed, room, place, on), on, bytes_of(count, type))                  \
  COPIES(Unpack##name,                                                                             \
         (const void* packed, COUNT room, PLACE place, void* data, COUNT count, MPI_Datatype type, \
          MPI_Comm on),                                                                            \
         (packed, room, place, data, count, type, on), on, bytes_of(count, type))                  \
  COPIES(Pack_external##name,                                                                      \
         (const char form[], const void* data, COUNT count, MPI_Datatype type, void* packed,       \
          EXTERNAL room, EXTERNAL* place),                                                         \
         (form, data, count, type, packed, room, place), MPI_COMM_WORLD, bytes_of(count, type))    \
  COPIES(Unpack_external##name,                                                                    \
         (const char form[], const void* packed, EXTERNAL room, EXTERNAL* place, void* data,       \
          COUNT count, MPI_Datatype type),                                                         \
         (form, packed, room, place, data, count, type), MPI_COMM_WORLD, bytes_of(count, type))    \
  COPIES(Reduce_local##name,                                                                       \
         (const void* given, void* result_room, COUNT count, MPI_Datatype type, MPI_Op operation), \
         (given, result_room, count, type, operation), MPI_COMM_WORLD, bytes_of(count, type))

PACKING(, int, int*, MPI_Aint)
#if CONTEND_BIG_COUNTS
PACKING(_c, MPI_Count, MPI_Count*, MPI_Count)
#endif
