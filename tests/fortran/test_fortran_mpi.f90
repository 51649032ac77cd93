! The module harray_mpi on the ranks of a ring, with arrays on a context, which is the argument: "host" or "sim:0".
program test_fortran_mpi
  use harray
  use harray_mpi
  implicit none
  include 'mpif.h'
  type(ha_context) :: ctx
  character(20) :: name
  integer :: me, ranks, left, right, error, failures, all_failures
  logical :: before_init
  failures = 0
  call get_command_argument(1, name)
  ctx = ha_find(name)
  before_init = refused_without_mpi()
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  if (ranks < 2) stop 77  ! another MPI's launcher has started it
  left = modulo(me - 1, ranks)
  right = modulo(me + 1, ranks)
  call check(before_init, 'refused before MPI_Init')
  call test_messages()
  call test_plain_mpi()
  call test_collectives()
  call test_halo()
  call test_mistakes()
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
  if (all_failures > 0) error stop 1
contains

  subroutine check(fine, what)
    logical, intent(in) :: fine
    character(*), intent(in) :: what
    if (fine) return
    failures = failures + 1
    print '(a, i0, 2a)', '# rank ', me, ': ', what
  end subroutine

  logical function refused_without_mpi() result(fine)
    type(ha_array) :: u
    integer :: status
    call u%make(ha_real32, [2])
    call u%fill(1.0_real64, ctx)
    call ha_mpi_send(u, 0, 1, MPI_COMM_WORLD, status)
    fine = status == ha_err_state .and. index(ha_error_text(), 'MPI is not there') > 0
    call u%free()
  end function

  ! An array whose elements are number*10000 + 100*j + i, on the context.
  subroutine make_numbers(u, n, m, number, name)
    type(ha_array), intent(inout) :: u
    integer, intent(in) :: n, m, number
    character(*), intent(in) :: name
    real(real64), pointer :: p(:, :)
    integer :: i, j
    call u%make(ha_real64, [n, m], at=ctx, name=name)
    call u%overwrite(p)
    do j = 1, m
      p(:, j) = [(number*10000 + 100*j + i, i=1, n)]
    end do
    call u%close()
    call u%write(ctx)
    call u%close()
  end subroutine

  ! Rows, which have gaps, and whole arrays.
  subroutine test_messages()
    type(ha_array) :: u, v, row, ghost
    real(real64), pointer :: p(:, :)
    integer :: j
    call make_numbers(u, 3, 4, me, 'u')
    call make_numbers(v, 3, 4, 99, 'v')
    row = u%fix(1, 3)
    ghost = v%fix(1, 1)
    call ha_mpi_exchange(row, right, ghost, left, 7, MPI_COMM_WORLD)
    call v%read(p)
    call check(all([(nint(p(1, j)) == left*10000 + 100*j + 3, j=1, 4)]), 'a row from the left')
    call check(nint(p(2, 1)) == 99*10000 + 102, 'other rows as they were')
    call v%close()
    if (me == 0) call ha_mpi_send(u, 1, 8, MPI_COMM_WORLD)
    if (me == 1) then
      call ha_mpi_recv(v, 0, 8, MPI_COMM_WORLD)
      call v%read(p)
      call check(all([(nint(p(3, j)) == 100*j + 3, j=1, 4)]), 'a whole array')
      call v%close()
    end if
    call u%free()
    call v%free()
  end subroutine

  ! What travels is what a Fortran program itself would send and receive.
  subroutine test_plain_mpi()
    type(ha_array) :: u
    real(real64) :: plain(2, 3)
    integer :: i
    call make_numbers(u, 2, 3, me, 'u')
    if (me == 0) call ha_mpi_send(u, 1, 9, MPI_COMM_WORLD)
    if (me == 1) then
      call MPI_Recv(plain, 6, MPI_DOUBLE_PRECISION, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call check(all([(nint(plain(i, 3)) == 300 + i, i=1, 2)]), 'in the order of Fortran')
    end if
    call u%free()
  end subroutine

  subroutine test_collectives()
    type(ha_array) :: u, total
    real(real64), pointer :: p(:, :)
    integer(int32), pointer :: q(:)
    call make_numbers(u, 2, 2, me, 'u')
    call ha_mpi_bcast(u, ranks - 1, MPI_COMM_WORLD)
    call u%read(p)
    call check(nint(p(2, 1)) == (ranks - 1)*10000 + 102, 'broadcast')
    call u%close()
    call u%free()
    call total%make(ha_int32, [3], at=ctx)
    call total%fill(real(me + 1, real64), ctx)
    call ha_mpi_allreduce(total, MPI_SUM, MPI_COMM_WORLD)
    call total%read(q)
    call check(all(q == ranks*(ranks + 1)/2), 'sum of all ranks')
    call total%close()
    call total%free()
  end subroutine

  ! Two arrays with ghost cells in the first dimension, which take turns with two others.
  subroutine test_halo()
    type(ha_array) :: u(2), v(2)
    type(ha_mpi_halo) :: halo
    real(real64), pointer :: p(:, :)
    integer :: ring, step, i, status
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring, error)
    do i = 1, 2
      call u(i)%make(ha_real64, [4, 2], ghosts=[1, 0], at=ctx)
      call v(i)%make(ha_real64, [4, 2], ghosts=[1, 0], at=ctx)
      call u(i)%fill(real(10*me + i, real64), ctx)
      call v(i)%fill(real(10*me + i + 2, real64), ctx)
    end do
    call halo%make(ring, u, 1, ha_mpi_corners, at=ctx)
    call halo%make(ring, u, 1, ha_mpi_corners, at=ctx, status=status)
    call check(status == ha_err_state, 'a plan is there already')
    do step = 0, 1
      call halo%start()
      call halo%start(status)
      call check(status == ha_err_state, 'started twice')
      call halo%finish()
      do i = 1, 2
        if (step == 0) call u(i)%read(p)
        if (step == 1) call v(i)%read(p)
        call check(all(nint(p(0, :)) == 10*left + i + 2*step) .and. all(nint(p(5, :)) == 10*right + i + 2*step), &
                   'ghost cells are those of the neighbours')
        call check(all(nint(p(1:4, :)) == 10*me + i + 2*step), 'and the others are as they were')
        if (step == 0) call u(i)%close()
        if (step == 1) call v(i)%close()
      end do
      call halo%rebind(v)
    end do
    call halo%rebind(u(1:1), status)
    call check(status == ha_err_argument, 'a field is missing')
    call halo%free()
    call halo%free()
    call halo%finish(status)
    call check(status == ha_err_argument, 'a plan that was freed')
    call halo%make(MPI_COMM_WORLD, u, 1, ha_mpi_faces, status=status)
    call check(status == ha_err_argument .and. index(ha_error_text(), 'MPI_Cart_create') > 0, 'no grid of ranks')
    do i = 1, 2
      call u(i)%free()
      call v(i)%free()
    end do
    call MPI_Comm_free(ring, error)
  end subroutine

  subroutine test_mistakes()
    type(ha_array) :: u, none
    integer :: status(6)
    call make_numbers(u, 2, 2, me, 'u')
    call ha_mpi_send(none, 0, 1, MPI_COMM_WORLD, status(1))
    call ha_mpi_recv(none, 0, 1, MPI_COMM_WORLD, status(2))
    call ha_mpi_exchange(u, 0, none, 0, 1, MPI_COMM_WORLD, status(3))
    call ha_mpi_bcast(none, 0, MPI_COMM_WORLD, status(4))
    call ha_mpi_allreduce(none, MPI_SUM, MPI_COMM_WORLD, status(5))
    call check(all(status(1:5) == ha_err_state), 'no array')
    call ha_mpi_send(u, 99, 1, MPI_COMM_WORLD, status(6))
    call check(status(6) == ha_err_argument .and. index(ha_error_text(), 'send in Fortran: there is no rank 99') > 0, &
               'no such rank')
    call u%free()
  end subroutine
end program
