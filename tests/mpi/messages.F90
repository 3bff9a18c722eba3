! messages.F90 - point to point from Fortran, once with `use mpi` and once (-DF08) with `use mpi_f08`.
! Wildcards, ignored statuses, persistent requests, waitany, a communicator in another order, a derived type, failed tests.
program messages
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer, parameter :: n = 500
  integer :: me, p, right, left, i, k, index, done, outcount, indices(4), ierr, me2, p2
  double precision :: give(2 * n), take(2 * n, 4)
  logical :: flag
#ifdef F08
  type(MPI_Request) :: request(4)
  type(MPI_Status) :: status, statuses(4)
  type(MPI_Comm) :: half
  type(MPI_Datatype) :: column
#define SOURCE_OF(s) s%MPI_SOURCE
#else
  integer :: request(4), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4), half, column
#define SOURCE_OF(s) s(MPI_SOURCE)
#endif
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, p, ierr)
  right = mod(me + 1, p)
  left = mod(me + p - 1, p)
  give = me

  ! with an argument, persistent requests and nothing else: Open MPI's monitoring does not count them
  if (command_argument_count() > 0) then
    call MPI_Send_init(give, n, MPI_REAL, left, 9, MPI_COMM_WORLD, request(1), ierr)
    call MPI_Recv_init(take, n, MPI_REAL, right, MPI_ANY_TAG, MPI_COMM_WORLD, request(2), ierr)
    do k = 1, 3
      call MPI_Startall(2, request, ierr)
      call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
    call MPI_Start(request(2), ierr)
    call MPI_Start(request(1), ierr)
    call MPI_Wait(request(1), status, ierr)
    call MPI_Wait(request(2), MPI_STATUS_IGNORE, ierr)
    call MPI_Wait(request(2), MPI_STATUS_IGNORE, ierr) ! inactive
    call MPI_Request_free(request(1), ierr)
    call MPI_Request_free(request(2), ierr)
    call MPI_Finalize(ierr)
    stop
  end if

  ! any source, any tag, short messages, ignored status
  call MPI_Irecv(take(1, 1), n, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, request(1), ierr)
  call MPI_Send(give, 10 + me, MPI_DOUBLE_PRECISION, right, 5, MPI_COMM_WORLD, ierr)
  call MPI_Wait(request(1), MPI_STATUS_IGNORE, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)

  ! waitany, testsome, waitall with and without statuses
  do k = 1, 3
    do i = 1, 2
      call MPI_Irecv(take(1, i), n, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, request(i), ierr)
      call MPI_Isend(give, 20 * i + k, MPI_DOUBLE_PRECISION, right, i, MPI_COMM_WORLD, request(2 + i), ierr)
    end do
    if (k == 1) then
      do i = 1, 4
        call MPI_Waitany(4, request, index, status, ierr)
      end do
    else if (k == 2) then
      done = 0
      do while (done < 4)
        call MPI_Testsome(4, request, outcount, indices, MPI_STATUSES_IGNORE, ierr)
        if (outcount > 0) done = done + outcount
      end do
    else
      call MPI_Waitall(4, request, statuses, ierr)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do

  ! a communicator whose ranks run backwards; a derived type
  call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), -me, half, ierr)
  call MPI_Comm_rank(half, me2, ierr)
  call MPI_Comm_size(half, p2, ierr)
  call MPI_Type_vector(n / 2, 1, 2, MPI_DOUBLE_PRECISION, column, ierr)
  call MPI_Type_commit(column, ierr)
  call MPI_Sendrecv(give, 1, column, mod(me2 + 1, p2), 3, take, n, MPI_DOUBLE_PRECISION, mod(me2 + p2 - 1, p2), 3, &
                    half, MPI_STATUS_IGNORE, ierr)
  call MPI_Sendrecv_replace(give, 33, MPI_INTEGER, mod(me2 + 1, p2), 4, MPI_ANY_SOURCE, 4, half, status, ierr)
  if (SOURCE_OF(status) /= mod(me2 + p2 - 1, p2)) print *, 'wrong source'
  call MPI_Comm_free(half, ierr)
  call MPI_Type_free(column, ierr)

  ! a message that comes late
  if (me == 0) then
    call MPI_Irecv(take, n, MPI_INTEGER, 1, 60, MPI_COMM_WORLD, request(1), ierr)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(request(1), flag, status, ierr)
    end do
    flag = .false.
    do while (.not. flag)
      call MPI_Iprobe(MPI_ANY_SOURCE, 61, MPI_COMM_WORLD, flag, status, ierr)
    end do
    call MPI_Recv(take, n, MPI_INTEGER, SOURCE_OF(status), 61, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  else if (me == 1) then
    call wait_a_little()
    call MPI_Ssend(give, 70, MPI_INTEGER, 0, 60, MPI_COMM_WORLD, ierr)
    call MPI_Send(give, 71, MPI_INTEGER, 0, 61, MPI_COMM_WORLD, ierr)
  end if

  ! in place, and without an error argument where the interface allows it
  call MPI_Allreduce(MPI_IN_PLACE, give, 16, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, take, 24, MPI_INTEGER, MPI_COMM_WORLD, ierr)
#ifdef F08
  call MPI_Bcast(give, 8, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
  call MPI_Finalize()
#else
  call MPI_Bcast(give, 8, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
#endif
contains
  subroutine wait_a_little()
    double precision :: until
    until = MPI_Wtime() + 0.02d0
    do while (MPI_Wtime() < until)
    end do
  end subroutine
end program
