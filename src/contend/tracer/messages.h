// Point to point with counts, included by point_to_point.c for each type that counts have: COUNT is
// the type, NAMED(routine) the name. No include guard.

#define SENDS(name)                                                                              \
  int RECORDED(NAMED(name))(const void* data, COUNT count, MPI_Datatype type, int peer, int tag, \
                            MPI_Comm communicator) {                                             \
    CONTEND_CALL_OF(NAMED(name), (data, count, type, peer, tag, communicator));                  \
    contend_await_peer(CONTEND_AWAITS_RECEIVER, communicator, peer, tag);                        \
    int result = REAL(NAMED(name))(data, count, type, peer, tag, communicator);                  \
    contend_leave(&call);                                                                        \
    if (result == MPI_SUCCESS) note_send(&call, count, type, peer, tag, communicator);           \
    contend_done();                                                                              \
    return result;                                                                               \
  }

#define BEGINS(name, qualifier, kind, persistent)                                           \
  int RECORDED(NAMED(name))(qualifier void* data, COUNT count, MPI_Datatype type, int peer, \
                            int tag, MPI_Comm communicator, MPI_Request* request) {         \
    CONTEND_CALL_OF(NAMED(name), (data, count, type, peer, tag, communicator, request));    \
    int result = REAL(NAMED(name))(data, count, type, peer, tag, communicator, request);    \
    contend_leave(&call);                                                                   \
    if (result == MPI_SUCCESS)                                                              \
      note_begun(&call, kind, persistent, count, type, peer, tag, communicator, *request);  \
    contend_done();                                                                         \
    return result;                                                                          \
  }

SENDS(Send)
SENDS(Bsend)
SENDS(Ssend)
SENDS(Rsend)
BEGINS(Isend, const, CONTEND_SENDS, false)
BEGINS(Ibsend, const, CONTEND_SENDS, false)
BEGINS(Issend, const, CONTEND_SENDS, false)
BEGINS(Irsend, const, CONTEND_SENDS, false)
BEGINS(Send_init, const, CONTEND_SENDS, true)
BEGINS(Bsend_init, const, CONTEND_SENDS, true)
BEGINS(Ssend_init, const, CONTEND_SENDS, true)
BEGINS(Rsend_init, const, CONTEND_SENDS, true)
BEGINS(Irecv, , CONTEND_RECEIVES, false)
BEGINS(Recv_init, , CONTEND_RECEIVES, true)

int RECORDED(NAMED(Recv))(void* data, COUNT count, MPI_Datatype type, int peer, int tag,
                          MPI_Comm communicator, MPI_Status* status) {
  CONTEND_CALL_OF(NAMED(Recv), (data, count, type, peer, tag, communicator, status));
  contend_await_peer(CONTEND_AWAITS_SENDER, communicator, peer, tag);
  MPI_Status own, *given = status == MPI_STATUS_IGNORE ? &own : status;
  int result = REAL(NAMED(Recv))(data, count, type, peer, tag, communicator, given);
  contend_leave(&call);
  if (contend_took_place(result))
    note_arrival_on(&call, call.start, contend_find(communicator), given, true,
                    room_of(result, count, type));
  contend_done();
  return result;
}

int RECORDED(NAMED(Mrecv))(void* data, COUNT count, MPI_Datatype type, MPI_Message* message,
                           MPI_Status* status) {
  CONTEND_CALL_WITH(message, NAMED(Mrecv), (data, count, type, message, status));
  contend_live_communicator* communicator = message_communicator(*message);
  contend_await(CONTEND_AWAITS_SENDER, communicator, CONTEND_ANY_PEER, MPI_ANY_TAG, 0);
  MPI_Status own, *given = status == MPI_STATUS_IGNORE ? &own : status;
  int result = REAL(NAMED(Mrecv))(data, count, type, message, given);
  contend_leave(&call);
  if (contend_took_place(result))
    note_arrival_on(&call, call.start, communicator, given, true, room_of(result, count, type));
  contend_done();
  return result;
}

int RECORDED(NAMED(Imrecv))(void* data, COUNT count, MPI_Datatype type, MPI_Message* message,
                            MPI_Request* request) {
  CONTEND_CALL_WITH(message, NAMED(Imrecv), (data, count, type, message, request));
  contend_live_communicator* communicator = message_communicator(*message);
  int result = REAL(NAMED(Imrecv))(data, count, type, message, request);
  contend_leave(&call);
  if (result == MPI_SUCCESS)
    note_begun_on(&call, CONTEND_RECEIVES, false, count, type, CONTEND_NO_PEER, 0, communicator,
                  *request);
  contend_done();
  return result;
}

int RECORDED(NAMED(Sendrecv))(const void* data, COUNT count, MPI_Datatype type, int peer, int tag,
                              void* room, COUNT room_count, MPI_Datatype room_type, int source,
                              int receive_tag, MPI_Comm communicator, MPI_Status* status) {
  CONTEND_CALL_OF(NAMED(Sendrecv), (data, count, type, peer, tag, room, room_count, room_type,
                                    source, receive_tag, communicator, status));
  contend_await_peer(CONTEND_AWAITS_SENDER, communicator, source, receive_tag);
  contend_await_peer_at(1, CONTEND_AWAITS_RECEIVER, communicator, peer, tag);
  MPI_Status own, *given = status == MPI_STATUS_IGNORE ? &own : status;
  int result = REAL(NAMED(Sendrecv))(data, count, type, peer, tag, room, room_count, room_type,
                                     source, receive_tag, communicator, given);
  contend_leave(&call);
  if (contend_took_place(result))
    note_exchange(&call, count, type, peer, tag, communicator, given,
                  room_of(result, room_count, room_type));
  contend_done();
  return result;
}

int RECORDED(NAMED(Sendrecv_replace))(void* data, COUNT count, MPI_Datatype type, int peer, int tag,
                                      int source, int receive_tag, MPI_Comm communicator,
                                      MPI_Status* status) {
  CONTEND_CALL_OF(NAMED(Sendrecv_replace),
                  (data, count, type, peer, tag, source, receive_tag, communicator, status));
  contend_await_peer(CONTEND_AWAITS_SENDER, communicator, source, receive_tag);
  contend_await_peer_at(1, CONTEND_AWAITS_RECEIVER, communicator, peer, tag);
  MPI_Status own, *given = status == MPI_STATUS_IGNORE ? &own : status;
  int result = REAL(NAMED(Sendrecv_replace))(data, count, type, peer, tag, source, receive_tag,
                                             communicator, given);
  contend_leave(&call);
  if (contend_took_place(result))
    note_exchange(&call, count, type, peer, tag, communicator, given, room_of(result, count, type));
  contend_done();
  return result;
}

#if CONTEND_MPI_4
int RECORDED(NAMED(Isendrecv))(const void* data, COUNT count, MPI_Datatype type, int peer, int tag,
                               void* room, COUNT room_count, MPI_Datatype room_type, int source,
                               int receive_tag, MPI_Comm communicator, MPI_Request* request) {
  CONTEND_CALL_OF(NAMED(Isendrecv), (data, count, type, peer, tag, room, room_count, room_type,
                                     source, receive_tag, communicator, request));
  int result = REAL(NAMED(Isendrecv))(data, count, type, peer, tag, room, room_count, room_type,
                                      source, receive_tag, communicator, request);
  contend_leave(&call);
  if (result == MPI_SUCCESS)
    note_begun_exchange(&call, count, type, peer, tag, source, receive_tag, communicator, *request);
  contend_done();
  return result;
}

int RECORDED(NAMED(Isendrecv_replace))(void* data, COUNT count, MPI_Datatype type, int peer,
                                       int tag, int source, int receive_tag, MPI_Comm communicator,
                                       MPI_Request* request) {
  CONTEND_CALL_OF(NAMED(Isendrecv_replace),
                  (data, count, type, peer, tag, source, receive_tag, communicator, request));
  int result = REAL(NAMED(Isendrecv_replace))(data, count, type, peer, tag, source, receive_tag,
                                              communicator, request);
  contend_leave(&call);
  if (result == MPI_SUCCESS)
    note_begun_exchange(&call, count, type, peer, tag, source, receive_tag, communicator, *request);
  contend_done();
  return result;
}
#endif

#undef SENDS
#undef BEGINS
#undef COUNT
#undef NAMED
