! Sends twice, waits and sums up, through the interface that FLAVOUR names: 1 mpif.h, 2 use mpi,
! 3 use mpi_f08. The lines of the calls are what the test looks for.
program flavour_of_fortran
#if FLAVOUR == 3
  use mpi_f08
  implicit none
  type(MPI_Request) :: request, made(1)
  type(MPI_Comm) :: same
  type(MPI_Datatype) :: column
#elif FLAVOUR == 2
  use mpi
  implicit none
  integer :: request, column, made(1), same
#else
  implicit none
  include 'mpif.h'
  integer :: request, column, made(1), same
#endif
  integer :: rank, ranks, error, turn
  integer :: numbers(20), total(20)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  numbers = rank
  call MPI_Type_vector(3, 2, 4, MPI_INTEGER, column, error)
  call MPI_Type_commit(column, error)
  do turn = 1, 3
    call MPI_Irecv(total, 20, MPI_INTEGER, mod(rank + ranks - 1, ranks), 1, MPI_COMM_WORLD, request, error)
    call MPI_Send(numbers, 1, column, mod(rank + 1, ranks), 1, MPI_COMM_WORLD, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call MPI_Irecv(total, 20, MPI_INTEGER, mod(rank + ranks - 1, ranks), 2, MPI_COMM_WORLD, request, error)
    call MPI_Send(numbers, 5, MPI_INTEGER, mod(rank + 1, ranks), 2, MPI_COMM_WORLD, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  end do
  call MPI_Allreduce(numbers, total, 20, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Allreduce(MPI_IN_PLACE, total, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  ! The library has what this makes in a variable of its own until it returns.
  call MPI_Comm_idup(MPI_COMM_WORLD, same, made(1), error)
  call MPI_Waitall(1, made, MPI_STATUSES_IGNORE, error)
  call MPI_Barrier(same, error)
  call MPI_Comm_free(same, error)
  call MPI_Type_free(column, error)
  if (total(1) == ranks * ranks * (ranks - 1) / 2) print *, 'done'
  call MPI_Finalize(error)
end program
