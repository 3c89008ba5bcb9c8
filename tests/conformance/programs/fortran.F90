! What Fortran programs contain, by one of its three interfaces (FLAVOUR): messages of columns, in
! place, from MPI_BOTTOM, copies of communicators in the background, operations and attributes of
! the program's own. Rank by rank it prints what it got.
module own
  implicit none
contains
  subroutine largest(given, kept, length, datatype)
#if FLAVOUR == 3
    use mpi_f08
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: given, kept
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: from(:), into(:)
    call c_f_pointer(given, from, [length])
    call c_f_pointer(kept, into, [length])
    into = max(from, into)
#else
    integer :: length, datatype
    integer :: given(length), kept(length)
    kept = max(given, kept)
#endif
  end subroutine largest
end module own

program conformance
#if FLAVOUR == 3
  use mpi_f08
#elif FLAVOUR == 2
  use mpi
#endif
  use own
  implicit none
#if FLAVOUR == 1
  include 'mpif.h'
#endif
#if FLAVOUR == 3
  type(MPI_Request) :: requests(2)
  type(MPI_Datatype) :: column, absolute
  type(MPI_Comm) :: comm, later, third
  type(MPI_Op) :: operation
  type(MPI_Status) :: status
#else
  integer :: requests(2), column, absolute, comm, later, third, operation
  integer :: status(MPI_STATUS_SIZE)
#endif
  integer :: rank, ranks, error, turn, key, length, next, last
  integer :: table(4, 5), got(4, 5), block(1)
  integer, allocatable :: data(:), room(:), counts(:), places(:)
  integer(kind=MPI_ADDRESS_KIND) :: address(1), value
  logical :: flag
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  last = mod(rank + ranks - 1, ranks)
  allocate(data(8 * ranks), room(8 * ranks), counts(ranks), places(ranks))
  table = reshape([(100 * rank + turn, turn = 1, 20)], [4, 5])
  got = -1
  call MPI_Type_vector(5, 1, 4, MPI_INTEGER, column, error)
  call MPI_Type_commit(column, error)
  call MPI_Irecv(got(2, 1), 1, column, last, 3, MPI_COMM_WORLD, requests(1), error)
  call MPI_Isend(table(1, 1), 1, column, next, 3, MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  print '(i0,a,20i5)', rank, ': column', got
  call MPI_Sendrecv(table, 3, MPI_INTEGER, next, 4, got, 20, MPI_INTEGER, last, 4, &
      MPI_COMM_WORLD, status, error)
  call MPI_Get_count(status, MPI_INTEGER, length, error)
  print '(i0,a,i0)', rank, ': count ', length
  call MPI_Get_address(table, address(1), error)
  block(1) = 7
  call MPI_Type_create_hindexed(1, block, address, MPI_INTEGER, absolute, error)
  call MPI_Type_commit(absolute, error)
  call MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD, error)
  print '(i0,a,20i5)', rank, ': bottom', table
  call MPI_Type_free(absolute, error)
  call MPI_Type_free(column, error)
  ! The variable that will hold the copy is an argument of a call that has long returned.
  call MPI_Comm_idup(MPI_COMM_WORLD, later, requests(1), error)
  call MPI_Comm_idup(MPI_COMM_WORLD, third, requests(2), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  call MPI_Comm_split(later, mod(rank, 2), rank, comm, error)
  data = [(1000 * rank + turn, turn = 1, 8 * ranks)]
  counts = 3
  places = [(4 * turn, turn = 0, ranks - 1)]
  do turn = 1, 3
    room = -1
    call MPI_Alltoall(data, 3, MPI_INTEGER, room, 3, MPI_INTEGER, later, error)
    call show('alltoall')
    room = data
    call MPI_Alltoall(MPI_IN_PLACE, 3, MPI_INTEGER, room, 3, MPI_INTEGER, third, error)
    call show('in place')
    call MPI_Alltoallv(data, counts, places, MPI_INTEGER, room, counts, places, MPI_INTEGER, &
        MPI_COMM_WORLD, error)
    call show('alltoallv')
    call MPI_Ialltoall(data, 2, MPI_INTEGER, room, 2, MPI_INTEGER, comm, requests(1), error)
    call MPI_Wait(requests(1), status, error)
    call show('ialltoall')
    call MPI_Allreduce(MPI_IN_PLACE, room, 5, MPI_INTEGER, MPI_SUM, later, error)
    call show('allreduce')
  end do
  call MPI_Op_create(largest, .true., operation, error)
  call MPI_Allreduce(data, room, 4, MPI_INTEGER, operation, third, error)
  call show('operation')
  call MPI_Op_free(operation, error)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, &
      error)
  call MPI_Comm_set_attr(later, key, 4711_MPI_ADDRESS_KIND, error)
  call MPI_Comm_free(third, error)
  call MPI_Comm_dup(later, third, error)
  call MPI_Comm_get_attr(third, key, value, flag, error)
  print '(i0,a,i0,l2)', rank, ': attribute ', value, flag
  call MPI_Comm_free(third, error)
  call MPI_Comm_free(comm, error)
  call MPI_Comm_free(later, error)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
  call MPI_Send(data, 1, MPI_INTEGER, ranks + 5, 1, MPI_COMM_WORLD, error)
  call MPI_Error_class(error, length, error)
  print '(i0,a,l2)', rank, ': rank is wrong', length == MPI_ERR_RANK
  call MPI_Finalize(error)
contains
  subroutine show(what)
    character(*), intent(in) :: what
    print '(i0,2a,40i6)', rank, ': ', what, room
  end subroutine show
end program conformance
