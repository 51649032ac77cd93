! The module harray on a context, which is the argument: "host" or "sim:0".
program test_fortran
  use harray
  use tap
  implicit none
  type(ha_context) :: ctx
  character(20) :: name
  call get_command_argument(1, name)
  ctx = ha_find(name)
  call test_bounds()
  call test_kinds()
  call test_ranks()
  call test_views()
  call test_gaps()
  call test_wrap()
  call test_wrap_section()
  call test_assignment()
  call test_there()
  call test_no_elements()
  call test_wrong_pointers()
  call test_wrong_accesses()
  call test_wrong_shapes()
  call test_wrong_views()
  call test_no_memory()
  call test_contexts()
  call ha_shutdown()
  call plan()
contains

  ! Takes the values to the context, where the program wants them, and back.
  subroutine send(a)
    type(ha_array), intent(inout) :: a
    call a%write(ctx)
    call a%close()
    call ctx%finish()
    call check(a%valid(ctx), 'valid there: '//a%text())
  end subroutine

  subroutine test_bounds()
    type(ha_array) :: u
    real(real64), pointer :: p(:, :)
    integer :: i, j
    call u%make(ha_real64, [4, 3], ghosts=[1, 2], at=ctx, name='u')
    call check(u%text() == 'u: real(real64) (0:5, -1:5)', 'bounds of ghost cells')
    call u%overwrite(p)
    call check(all(lbound(p) == [0, -1]) .and. all(ubound(p) == [5, 5]), 'bounds of the pointer')
    do j = -1, 5
      do i = 0, 5
        p(i, j) = i + 100*j
      end do
    end do
    call u%close()
    call send(u)
    call u%read(p)
    call check(all([((nint(p(i, j)) == i + 100*j, i=0, 5), j=-1, 5)]), 'values come back to their indices')
    call u%close()
    call u%free()
    call u%free()
    call u%make(ha_real64, [4_int64, 3_int64], lower=[-1_int64, 5_int64], ghosts=[1_int64, 0_int64], at=ctx)
    call check(all(u%lower() == [-2, 5]) .and. all(u%upper() == [3, 7]), 'lower bounds of the interior')
    call u%free()
  end subroutine

  subroutine test_kinds()
    type(ha_array) :: a
    real(real32), pointer :: s(:)
    integer(int32), pointer :: i(:)
    integer(int64), pointer :: l(:)
    complex(real32), pointer :: c(:)
    complex(real64), pointer :: z(:)
    call a%make(ha_real32, [2], at=ctx)
    call a%overwrite(s)
    s = [1.5, -2.5]
    call a%close()
    call send(a)
    call a%read(s)
    call check(all(nint(2*s) == [3, -5]), 'real32')
    call a%close()
    call a%free()
    call a%make(ha_int32, [2], at=ctx)
    call a%overwrite(i)
    i = [huge(1_int32), -7]
    call a%close()
    call send(a)
    call a%read(i)
    call check(all(i == [huge(1_int32), -7]), 'int32')
    call a%close()
    call a%free()
    call a%make(ha_int64, [2], at=ctx)
    call a%overwrite(l)
    l = [huge(1_int64), -7_int64]
    call a%close()
    call send(a)
    call a%read(l)
    call check(all(l == [huge(1_int64), -7_int64]), 'int64')
    call a%close()
    call a%free()
    call a%make(ha_complex32, [1], at=ctx)
    call a%overwrite(c)
    c = (1.0, 2.0)
    call a%close()
    call send(a)
    call a%write(c)
    c = c*(0.0, 1.0)
    call check(abs(c(1) - (-2.0, 1.0)) < 1e-6, 'complex32')
    call a%close()
    call a%free()
    call a%make(ha_complex64, [1], at=ctx)
    call a%overwrite(z)
    z = (1.0_real64, 2.0_real64)
    call a%close()
    call send(a)
    call a%read(z)
    call check(abs(z(1) - (1.0_real64, 2.0_real64)) < 1e-12_real64, 'complex64')
    call a%close()
    call a%free()
  end subroutine

  ! Of every rank, and that memory is in Fortran's order.
  subroutine test_ranks()
    type(ha_array) :: a
    integer(int32), pointer :: p1(:), p2(:, :), p3(:, :, :), p4(:, :, :, :), p5(:, :, :, :, :)
    integer(int32), pointer :: p6(:, :, :, :, :, :), p7(:, :, :, :, :, :, :)
    integer, parameter :: n(7) = [2, 3, 1, 2, 1, 2, 3]
    integer :: i, values(72)
    values = [(i, i=1, 72)]
    call a%make(ha_int32, n(:1), at=ctx)
    call a%overwrite(p1)
    p1 = values(:2)
    call a%close()
    call a%read(p1)
    call check(all(p1 == values(:2)) .and. all(shape(p1) == n(:1)), 'rank 1')
    call a%close()
    call a%free()
    call a%make(ha_int32, n(:2), at=ctx)
    call a%overwrite(p2)
    p2 = reshape(values(:6), n(:2))
    call a%close()
    call a%read(p2)
    call check(p2(2, 3) == 6 .and. all(shape(p2) == n(:2)), 'rank 2')
    call a%close()
    call a%free()
    call a%make(ha_int32, n(:3), at=ctx)
    call a%overwrite(p3)
    p3 = reshape(values(:6), n(:3))
    call a%close()
    call a%read(p3)
    call check(p3(2, 3, 1) == 6 .and. all(shape(p3) == n(:3)), 'rank 3')
    call a%close()
    call a%free()
    call a%make(ha_int32, n(:4), at=ctx)
    call a%overwrite(p4)
    p4 = reshape(values(:12), n(:4))
    call a%close()
    call a%read(p4)
    call check(p4(1, 3, 1, 2) == 11 .and. all(shape(p4) == n(:4)), 'rank 4')
    call a%close()
    call a%free()
    call a%make(ha_int32, n(:5), at=ctx)
    call a%overwrite(p5)
    p5 = reshape(values(:12), n(:5))
    call a%close()
    call a%read(p5)
    call check(p5(1, 3, 1, 2, 1) == 11 .and. all(shape(p5) == n(:5)), 'rank 5')
    call a%close()
    call a%free()
    call a%make(ha_int32, n(:6), at=ctx)
    call a%overwrite(p6)
    p6 = reshape(values(:24), n(:6))
    call a%close()
    call a%read(p6)
    call check(p6(1, 3, 1, 2, 1, 2) == 23 .and. all(shape(p6) == n(:6)), 'rank 6')
    call a%close()
    call a%free()
    call a%make(ha_int32, n, ghosts=[1, 0, 1, 0, 0, 0, 0], at=ctx)
    call a%fill(0.0_real64, ctx)
    call a%write(p7)
    p7(1:2, :, 1:1, :, :, :, :) = reshape(values, n)
    call a%close()
    call send(a)
    call a%read(p7)
    call check(p7(2, 3, 1, 2, 1, 2, 3) == 72 .and. p7(3, 3, 1, 2, 1, 2, 3) == 0 .and. sum(p7) == 72*73/2, 'rank 7')
    call a%close()
    call a%free()
  end subroutine

  subroutine test_views()
    type(ha_array) :: u, row, column, inner, other
    real(real64), pointer :: p(:, :), q(:)
    integer :: i
    call u%make(ha_real64, [3, 4], ghosts=[1, 1], at=ctx, name='u')
    call u%fill(-1.0_real64, ctx)
    inner = u%interior()
    call check(inner%text() == 'u: real(real64) (1:3, 1:4)', 'the interior keeps its indices')
    call inner%overwrite(p)
    p = 5
    call check(size(p) == 12 .and. lbound(p, 2) == 1, 'pointer to the interior')
    call inner%close()
    column = u%fix(2, 4)
    call column%write(q)
    call check(lbound(q, 1) == 0 .and. ubound(q, 1) == 4 .and. nint(sum(q)) == 13, 'a column')
    q(4) = 8
    call column%close()
    row = u%part([4, 1], [4, 4])
    call row%read(p)
    call check(all(lbound(p) == [4, 1]) .and. nint(p(4, 4)) == 8 .and. nint(sum(p)) == 5, 'a row')
    call row%close()
    call other%make(ha_real64, [1, 4])
    call other%copy(row, ctx)
    call other%read(p)
    call check(all([(nint(p(1, i)), i=1, 4)] == [-1, -1, -1, 8]), 'a copy')
    call other%close()
    call other%free()
    call inner%free()
    call u%read(p)
    call check(nint(sum(p)) == 12*5 - 18 + 9, 'freeing a view frees nothing')
    call u%close()
    call u%free()
  end subroutine

  ! A pointer to what lies with gaps between, and to single elements.
  subroutine test_gaps()
    type(ha_array) :: u, v
    integer(int32), pointer :: p(:, :, :)
    integer :: i
    call u%make(ha_int32, [3, 4, 5], at=ctx)
    call u%overwrite(p)
    p = reshape([(i, i=1, 60)], [3, 4, 5])
    call u%close()
    v = u%part([2, 3, 2], [3, 4, 4])
    call v%read(p)
    call check(all(reshape(p, [12]) == [20, 21, 23, 24, 32, 33, 35, 36, 44, 45, 47, 48]), 'a box')
    call v%close()
    v = u%part([2, 3, 2], [2, 3, 4])
    call v%read(p)
    call check(all(reshape(p, [3]) == [20, 32, 44]), 'a line along the last dimension')
    call v%close()
    v = u%part([2, 2, 5], [2, 4, 5])
    call v%read(p)
    call check(all(reshape(p, [3]) == [53, 56, 59]) .and. all(lbound(p) == [2, 2, 5]), 'along the second')
    call v%close()
    v = u%part([2, 2, 5], [2, 2, 5])
    call v%read(p)
    call check(size(p) == 1 .and. p(2, 2, 5) == 53, 'one element')
    call v%close()
    call u%free()
  end subroutine

  subroutine test_wrap()
    type(ha_array) :: a
    real(real64), allocatable, target :: x(:, :)
    real(real64), pointer :: p(:, :)
    integer :: status
    allocate (x(0:3, -1:1), source=2.0_real64)
    call a%wrap(x, lower=lbound(x), name='x')
    call check(a%text() == 'x: real(real64) (0:3, -1:1)', 'bounds of an allocatable')
    call a%fill(3.0_real64, ctx)
    call a%read(p)
    call check(associated(p, x) .and. nint(p(3, 1)) == 3, 'a pointer to the memory itself')
    call a%close()
    call a%fill(4.0_real64, ctx)
    call a%sync()
    call check(nint(sum(x)) == 48, 'sync brings the values')
    call a%wrap(x, status=status)
    call refused(status, ha_err_state, ha_error_text(), 'has an array already')
    call a%fill(5.0_real64, ctx)
    call a%free()
    call check(nint(sum(x)) == 60, 'free brings the values')
    deallocate (x)
  end subroutine

  subroutine test_wrap_section()
    type(ha_array) :: a
    integer(int32), target :: x(4, 4)
    integer(int32), pointer :: p(:, :)
    integer :: status
    x = 1
    call a%wrap(x(1:3, :), name='x', status=status)
    call refused(status, ha_err_argument, ha_error_text(), 'section with gaps')
    call a%wrap(x(:, 2:3))
    call a%write(p)
    p = 7
    call a%close()
    call a%free()
    call check(sum(x) == 8 + 8*7, 'a section without gaps')
    call a%wrap(x, lower=[1], status=status)
    call refused(status, ha_err_argument, ha_error_text(), 'as many numbers')
  end subroutine

  ! What a step of time does: two arrays take turns.
  subroutine test_assignment()
    type(ha_array) :: u, w, t
    real(real64), pointer :: p(:)
    integer :: status
    call u%make(ha_real64, [2], at=ctx, name='u')
    call w%make(ha_real64, [3], at=ctx, name='w')
    call u%fill(1.0_real64, ctx)
    t = u
    u = w
    w = t
    call check(u%text() == 'w: real(real64) (1:3)' .and. w%text() == 'u: real(real64) (1:2)', 'handles are values')
    call w%read(p)
    t = w
    call check(size(p) == 2, 'assigned while it is open')
    call w%close()
    call u%free()
    call w%free()
    call t%free(status)
    call refused(status, ha_err_state, ha_error_text(), 'freed')
  end subroutine

  subroutine test_there()
    type(ha_array) :: u
    type(c_ptr) :: address
    real(real64), pointer :: p(:)
    call u%make(ha_real64, [5], at=ctx)
    call u%fill(1.0_real64)
    call u%read(ctx, address)
    call check(same(address, address) .and. u%valid(ctx), 'an address there')
    call u%close()
    call u%overwrite(ctx)
    call u%close()
    call u%fill(2.0_real64, ctx)
    call u%read(p)
    call check(nint(sum(p)) == 10, 'what was overwritten there')
    call u%close()
    call u%free()
  end subroutine

  logical function same(a, b)
    use, intrinsic :: iso_c_binding, only: c_associated
    type(c_ptr), intent(in) :: a, b
    same = c_associated(a, b)
  end function

  subroutine test_no_elements()
    type(ha_array) :: u, v
    real(real64), pointer :: p(:, :)
    real(real64), target :: nothing(0, 3)
    integer :: status
    call u%make(ha_real64, [0, 3], at=ctx, name='u')
    call u%overwrite(p)
    call check(associated(p) .and. all(shape(p) == [0, 3]), 'no elements')
    call u%close()
    call u%free()
    call u%make(ha_real64, [3, 3], at=ctx, name='u')
    v = u%part([2, 2], [1, 3])
    call v%overwrite(p)
    call check(size(p) == 0 .and. size(p, 2) == 2, 'no elements of some')
    call v%close()
    call u%free()
    call u%wrap(nothing, status=status)
    call check(status == ha_ok .or. index(ha_error_text(), 'ARGUMENT') > 0, 'memory without elements')
    call u%free()
  end subroutine

  subroutine test_wrong_pointers()
    type(ha_array) :: u, none
    real(real32), pointer :: s(:, :)
    real(real64), pointer :: p(:), q(:, :)
    integer :: status
    call u%make(ha_real64, [2, 3], at=ctx, name='u')
    call u%overwrite(s, status)
    call refused(status, ha_err_argument, ha_error_text(), &
                 'u: real(real64) (1:2, 1:3): the pointer is of real(real32), rank 2')
    call check(.not. associated(s), 'a pointer to nothing')
    call u%overwrite(p, status)
    call refused(status, ha_err_argument, ha_error_text(), 'rank 1')
    call u%overwrite(q, status)
    call check(status == ha_ok, 'what was refused has opened nothing')
    call u%close()
    call u%free()
    call none%read(q, status)
    call refused(status, ha_err_state, ha_error_text(), 'no array was made')
    call none%sync(status)
    call refused(status, ha_err_state, ha_error_text(), 'no array was made')
    call none%fill(1.0_real64, status=status)
    call refused(status, ha_err_state, ha_error_text(), 'no array was made')
    call none%copy(none, status=status)
    call refused(status, ha_err_state, ha_error_text(), 'no array was made')
    call check(size(none%lower()) == 0 .and. .not. none%valid(ctx), 'questions about no array')
  end subroutine

  subroutine test_wrong_accesses()
    type(ha_array) :: u, other, stale
    real(real64), pointer :: p(:), q(:)
    integer :: status
    call u%make(ha_real64, [4], at=ctx, name='u')
    call u%read(p, status)
    call refused(status, ha_err_state, ha_error_text(), 'u')
    call u%close(status)
    call refused(status, ha_err_state, ha_error_text(), 'u: real(real64) (1:4): nothing is open')
    call u%overwrite(p)
    p = 1
    call u%read(q, status)
    call refused(status, ha_err_state, ha_error_text(), 'it is open by this variable already')
    other = u
    call other%write(q, status)
    call refused(status, ha_err_conflict, ha_error_text(), 'in Fortran')
    call u%free(status)
    call refused(status, ha_err_conflict, ha_error_text(), 'u')
    call u%close()
    other = u%part([1], [2])
    call other%write(q)
    q = 7
    call other%free(status)
    call refused(status, ha_err_conflict, ha_error_text(), 'close it first')
    call other%close()
    stale = u
    call u%free()
    call stale%read(q, status)
    call refused(status, ha_err_state, ha_error_text(), 'freed')
  end subroutine

  subroutine test_wrong_shapes()
    type(ha_array) :: u
    integer :: status
    integer, parameter :: none(0) = 0
    call u%make(ha_real64, [4, -1], at=ctx, status=status)
    call refused(status, ha_err_argument, ha_error_text(), 'dimension 2 has -1 elements')
    call u%make(ha_real64, [4, 4], ghosts=[0, -1], at=ctx, status=status)
    call refused(status, ha_err_argument, ha_error_text(), '-1 ghost cells')
    call u%make(ha_real64, [4, 4], ghosts=[1], at=ctx, status=status)
    call refused(status, ha_err_argument, ha_error_text(), 'as many')
    call u%make(ha_real64, none, at=ctx, status=status)
    call refused(status, ha_err_argument, ha_error_text(), '1 to 7 dimensions')
    call u%make(ha_real64, [1, 1, 1, 1, 1, 1, 1, 1], at=ctx, status=status)
    call refused(status, ha_err_argument, ha_error_text(), '1 to 7 dimensions')
    call u%make(ha_real64, [4], at=ctx, name='u')
    call u%make(ha_real64, [5], at=ctx, status=status)
    call refused(status, ha_err_state, ha_error_text(), 'u: real(real64) (1:4): this variable has an array already')
    call u%free()
  end subroutine

  subroutine test_wrong_views()
    type(ha_array) :: u, v
    integer :: status
    call u%make(ha_real64, [4, 3], ghosts=[1, 1], at=ctx, name='u')
    v = u%part([1, 1], [6, 3], status)
    call refused(status, ha_err_argument, ha_error_text(), 'u: real(real64) (0:5, 0:4): dimension 1 has no part 1:6')
    v = u%part([1, 3], [2, 1], status)
    call refused(status, ha_err_argument, ha_error_text(), 'dimension 2 has no part 3:1')
    v = u%part([1], [2], status)
    call refused(status, ha_err_argument, ha_error_text(), 'for 1 dimensions')
    v = u%part([1], [2, 2], status)
    call refused(status, ha_err_argument, ha_error_text(), 'for 0 dimensions')
    v = u%fix(2, 5, status)
    call refused(status, ha_err_argument, ha_error_text(), 'dimension 2 has no part 5:5')
    v = u%fix(3, 1, status)
    call refused(status, ha_err_argument, ha_error_text(), 'cannot do without')
    call check(size(v%lower()) == 0, 'what was refused is no array')
    v = v%interior(status)
    call refused(status, ha_err_state, ha_error_text(), 'no array was made')
    call u%free()
  end subroutine

  subroutine test_no_memory()
    type(ha_array) :: u
    real(real64), pointer :: p(:, :, :)
    integer :: status
    integer(int64), parameter :: much = 2_int64**31
    call u%make(ha_real64, [much, much, much], at=ctx, status=status)
    call refused(status, ha_err_memory, ha_error_text(), 'MEMORY')
    call u%make(ha_real64, [2_int64**20, 2_int64**20, 2_int64**17], at=ctx, name='u', status=status)
    if (status == ha_ok) call u%overwrite(p, status)
    call refused(status, ha_err_memory, ha_error_text(), 'MEMORY')
    call u%free()
  end subroutine

  subroutine test_contexts()
    type(ha_context) :: c
    type(ha_array) :: u
    integer :: status
    c = ha_find('nothing:0', status)
    call refused(status, ha_err_not_found, ha_error_text(), 'nothing')
    c = ha_best(status)
    call check(status == ha_ok, 'the best context')
    call u%make(ha_real64, [4], at=ha_host())
    call ha_shutdown(status)
    call refused(status, ha_err_state, ha_error_text(), 'STATE')
    call u%free()
  end subroutine
end program
