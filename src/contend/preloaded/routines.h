// The routines that have entries, by kind, and how many arguments each has. Everything else about
// them is generated from this list: whoever includes it defines ROUTINE(name, arguments) first.
// No include guard: it is included once for every thing that is generated.

#if CONTEND_BIG_COUNTS
#define COUNTED(name, arguments) ROUTINE(name, arguments) ROUTINE(name##_c, arguments)
#else
#define COUNTED(name, arguments) ROUTINE(name, arguments)
#endif
#if CONTEND_MPI_4
#define SINCE_4(routine) routine
#else
#define SINCE_4(routine)
#endif
// The number of arguments: blocking, nonblocking, persistent.
#define COLLECTIVE(name, lower, blocking, nonblocking, persistent) \
  COUNTED(name, blocking)                                          \
  COUNTED(I##lower, nonblocking)                                   \
  SINCE_4(COUNTED(name##_init, persistent))

// Beginning and end.
ROUTINE(Init, 2)
ROUTINE(Init_thread, 4)
ROUTINE(Finalize, 0)
ROUTINE(Abort, 2)

// Point to point.
COUNTED(Send, 6)
COUNTED(Bsend, 6)
COUNTED(Ssend, 6)
COUNTED(Rsend, 6)
COUNTED(Isend, 7)
COUNTED(Ibsend, 7)
COUNTED(Issend, 7)
COUNTED(Irsend, 7)
COUNTED(Send_init, 7)
COUNTED(Bsend_init, 7)
COUNTED(Ssend_init, 7)
COUNTED(Rsend_init, 7)
COUNTED(Recv, 7)
COUNTED(Irecv, 7)
COUNTED(Recv_init, 7)
COUNTED(Mrecv, 5)
COUNTED(Imrecv, 5)
COUNTED(Sendrecv, 12)
COUNTED(Sendrecv_replace, 9)
ROUTINE(Probe, 4)
ROUTINE(Iprobe, 5)
ROUTINE(Mprobe, 5)
ROUTINE(Improbe, 6)
SINCE_4(COUNTED(Isendrecv, 13))
SINCE_4(COUNTED(Isendrecv_replace, 10))
SINCE_4(ROUTINE(Psend_init, 9))
SINCE_4(ROUTINE(Precv_init, 9))
SINCE_4(ROUTINE(Pready, 2))
SINCE_4(ROUTINE(Pready_range, 3))
SINCE_4(ROUTINE(Pready_list, 3))
SINCE_4(ROUTINE(Parrived, 3))

// Requests.
ROUTINE(Wait, 2)
ROUTINE(Waitany, 4)
ROUTINE(Waitall, 3)
ROUTINE(Waitsome, 5)
ROUTINE(Test, 3)
ROUTINE(Testany, 5)
ROUTINE(Testall, 4)
ROUTINE(Testsome, 5)
ROUTINE(Start, 1)
ROUTINE(Startall, 2)
ROUTINE(Request_free, 1)
ROUTINE(Cancel, 1)

// Collectives.
ROUTINE(Barrier, 1)
ROUTINE(Ibarrier, 2)
SINCE_4(ROUTINE(Barrier_init, 3))
COLLECTIVE(Bcast, bcast, 5, 6, 7)
COLLECTIVE(Gather, gather, 8, 9, 10)
COLLECTIVE(Gatherv, gatherv, 9, 10, 11)
COLLECTIVE(Scatter, scatter, 8, 9, 10)
COLLECTIVE(Scatterv, scatterv, 9, 10, 11)
COLLECTIVE(Allgather, allgather, 7, 8, 9)
COLLECTIVE(Allgatherv, allgatherv, 8, 9, 10)
COLLECTIVE(Alltoall, alltoall, 7, 8, 9)
COLLECTIVE(Alltoallv, alltoallv, 9, 10, 11)
COLLECTIVE(Alltoallw, alltoallw, 9, 10, 11)
COLLECTIVE(Reduce, reduce, 7, 8, 9)
COLLECTIVE(Allreduce, allreduce, 6, 7, 8)
COLLECTIVE(Reduce_scatter, reduce_scatter, 6, 7, 8)
COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, 6, 7, 8)
COLLECTIVE(Scan, scan, 6, 7, 8)
COLLECTIVE(Exscan, exscan, 6, 7, 8)
COLLECTIVE(Neighbor_allgather, neighbor_allgather, 7, 8, 9)
COLLECTIVE(Neighbor_allgatherv, neighbor_allgatherv, 8, 9, 10)
COLLECTIVE(Neighbor_alltoall, neighbor_alltoall, 7, 8, 9)
COLLECTIVE(Neighbor_alltoallv, neighbor_alltoallv, 9, 10, 11)
COLLECTIVE(Neighbor_alltoallw, neighbor_alltoallw, 9, 10, 11)

// Communicators and datatypes.
ROUTINE(Comm_dup, 2)
ROUTINE(Comm_dup_with_info, 3)
ROUTINE(Comm_idup, 3)
SINCE_4(ROUTINE(Comm_idup_with_info, 4))
ROUTINE(Comm_create, 3)
ROUTINE(Comm_create_group, 4)
ROUTINE(Comm_split, 4)
ROUTINE(Comm_split_type, 5)
ROUTINE(Comm_free, 1)
ROUTINE(Comm_disconnect, 1)
ROUTINE(Comm_set_name, 2)
ROUTINE(Cart_create, 6)
ROUTINE(Cart_sub, 3)
ROUTINE(Graph_create, 6)
ROUTINE(Dist_graph_create, 9)
ROUTINE(Dist_graph_create_adjacent, 10)
ROUTINE(Intercomm_create, 6)
ROUTINE(Intercomm_merge, 3)
ROUTINE(Type_free, 1)

// One-sided.
COUNTED(Put, 8)
COUNTED(Get, 8)
COUNTED(Accumulate, 9)
COUNTED(Get_accumulate, 12)
COUNTED(Rput, 9)
COUNTED(Rget, 9)
COUNTED(Raccumulate, 10)
COUNTED(Rget_accumulate, 13)
ROUTINE(Fetch_and_op, 7)
ROUTINE(Compare_and_swap, 7)
COUNTED(Win_create, 6)
COUNTED(Win_allocate, 6)
COUNTED(Win_allocate_shared, 6)
ROUTINE(Win_create_dynamic, 3)
ROUTINE(Win_free, 1)
ROUTINE(Win_fence, 2)
ROUTINE(Win_start, 3)
ROUTINE(Win_complete, 1)
ROUTINE(Win_post, 3)
ROUTINE(Win_wait, 1)
ROUTINE(Win_test, 2)
ROUTINE(Win_lock, 4)
ROUTINE(Win_unlock, 2)
ROUTINE(Win_lock_all, 2)
ROUTINE(Win_unlock_all, 1)
ROUTINE(Win_flush, 2)
ROUTINE(Win_flush_local, 2)
ROUTINE(Win_flush_all, 1)
ROUTINE(Win_flush_local_all, 1)
ROUTINE(Win_sync, 1)

// What else can wait for others, or copies.
ROUTINE(Request_get_status, 3)
COUNTED(Buffer_attach, 2)
COUNTED(Buffer_detach, 2)
COUNTED(Pack, 7)
COUNTED(Unpack, 7)
COUNTED(Pack_external, 7)
COUNTED(Unpack_external, 7)
COUNTED(Reduce_local, 5)
ROUTINE(Comm_spawn, 8)
ROUTINE(Comm_spawn_multiple, 9)
ROUTINE(Comm_accept, 5)
ROUTINE(Comm_connect, 5)
ROUTINE(Comm_join, 2)
ROUTINE(Open_port, 2)
ROUTINE(Close_port, 1)
ROUTINE(Publish_name, 3)
ROUTINE(Unpublish_name, 3)
ROUTINE(Lookup_name, 3)
SINCE_4(ROUTINE(Session_init, 3))
SINCE_4(ROUTINE(Session_finalize, 1))
SINCE_4(ROUTINE(Comm_create_from_group, 5))
SINCE_4(ROUTINE(Intercomm_create_from_groups, 8))
ROUTINE(Comm_set_info, 2)
ROUTINE(Win_set_info, 2)
ROUTINE(Win_attach, 3)
ROUTINE(Win_detach, 2)
ROUTINE(Alloc_mem, 3)
ROUTINE(Free_mem, 1)

// What the library is given to call.
COUNTED(Op_create, 3)
ROUTINE(Comm_create_errhandler, 2)
ROUTINE(Win_create_errhandler, 2)
ROUTINE(File_create_errhandler, 2)
ROUTINE(Comm_create_keyval, 4)
ROUTINE(Win_create_keyval, 4)
ROUTINE(Type_create_keyval, 4)
ROUTINE(Grequest_start, 5)

// Calls on files, and what they send inside is theirs. FILE_ROUTINE(name, arguments) may be defined
// apart, or else is ROUTINE; so may those that move data: FILE_MOVES, whose status comes last,
// FILE_BEGINS, whose request does, and FILE_SPLITS, which end with count and type.
#ifndef FILE_ROUTINE
#define FILE_ROUTINE ROUTINE
#endif
#ifndef FILE_MOVES
#define FILE_MOVES ROUTINE
#define FILE_BEGINS ROUTINE
#define FILE_SPLITS ROUTINE
#endif
#if CONTEND_BIG_COUNTS
#define FILE_COUNTED(kind, name, arguments) kind(name, arguments) kind(name##_c, arguments)
#else
#define FILE_COUNTED(kind, name, arguments) kind(name, arguments)
#endif
FILE_ROUTINE(File_open, 5)
FILE_ROUTINE(File_close, 1)
FILE_ROUTINE(File_delete, 2)
FILE_ROUTINE(File_set_view, 6)
FILE_ROUTINE(File_set_info, 2)
FILE_ROUTINE(File_set_atomicity, 2)
FILE_ROUTINE(File_get_size, 2)
FILE_ROUTINE(File_get_position_shared, 2)
FILE_ROUTINE(File_set_size, 2)
FILE_ROUTINE(File_preallocate, 2)
FILE_ROUTINE(File_sync, 1)
FILE_ROUTINE(File_seek_shared, 3)
FILE_COUNTED(FILE_MOVES, File_read, 5)
FILE_COUNTED(FILE_MOVES, File_read_all, 5)
FILE_COUNTED(FILE_MOVES, File_read_at, 6)
FILE_COUNTED(FILE_MOVES, File_read_at_all, 6)
FILE_COUNTED(FILE_MOVES, File_read_shared, 5)
FILE_COUNTED(FILE_MOVES, File_read_ordered, 5)
FILE_COUNTED(FILE_MOVES, File_write, 5)
FILE_COUNTED(FILE_MOVES, File_write_all, 5)
FILE_COUNTED(FILE_MOVES, File_write_at, 6)
FILE_COUNTED(FILE_MOVES, File_write_at_all, 6)
FILE_COUNTED(FILE_MOVES, File_write_shared, 5)
FILE_COUNTED(FILE_MOVES, File_write_ordered, 5)
FILE_COUNTED(FILE_BEGINS, File_iread, 5)
FILE_COUNTED(FILE_BEGINS, File_iread_all, 5)
FILE_COUNTED(FILE_BEGINS, File_iread_at, 6)
FILE_COUNTED(FILE_BEGINS, File_iread_at_all, 6)
FILE_COUNTED(FILE_BEGINS, File_iread_shared, 5)
FILE_COUNTED(FILE_BEGINS, File_iwrite, 5)
FILE_COUNTED(FILE_BEGINS, File_iwrite_all, 5)
FILE_COUNTED(FILE_BEGINS, File_iwrite_at, 6)
FILE_COUNTED(FILE_BEGINS, File_iwrite_at_all, 6)
FILE_COUNTED(FILE_BEGINS, File_iwrite_shared, 5)
FILE_COUNTED(FILE_SPLITS, File_read_all_begin, 4)
FILE_COUNTED(FILE_SPLITS, File_read_at_all_begin, 5)
FILE_COUNTED(FILE_SPLITS, File_read_ordered_begin, 4)
FILE_COUNTED(FILE_SPLITS, File_write_all_begin, 4)
FILE_COUNTED(FILE_SPLITS, File_write_at_all_begin, 5)
FILE_COUNTED(FILE_SPLITS, File_write_ordered_begin, 4)
FILE_ROUTINE(File_read_all_end, 3)
FILE_ROUTINE(File_read_at_all_end, 3)
FILE_ROUTINE(File_read_ordered_end, 3)
FILE_ROUTINE(File_write_all_end, 3)
FILE_ROUTINE(File_write_at_all_end, 3)
FILE_ROUTINE(File_write_ordered_end, 3)

#undef ROUTINE
#undef FILE_ROUTINE
#undef FILE_MOVES
#undef FILE_BEGINS
#undef FILE_SPLITS
#undef COUNTED
#undef FILE_COUNTED
#undef SINCE_4
#undef COLLECTIVE
