! Heat in a rod whose ends are cold, by steps of explicit Euler. The first mode of sin is known to shrink by the same
! factor in each step, so the result is checked against that. Loops are Fortran's, on the host; the arrays begin at
! the context.
!
! usage: heat [CONTEXT]
program heat
  use harray
  implicit none
  integer, parameter :: n = 100, steps = 500
  real(real64), parameter :: r = 0.25_real64, pi = acos(-1.0_real64)
  type(ha_array) :: u, w, t, inner
  type(ha_context) :: ctx
  real(real64), pointer :: old(:), new(:)
  real(real64) :: factor, error
  character(40) :: name
  integer :: i, step

  call get_command_argument(1, name)
  ctx = ha_best()
  if (name /= '') ctx = ha_find(name)

  ! Indices 0:n+1; the ghost cells are the ends of the rod.
  call u%make(ha_real64, [n], ghosts=[1], at=ctx, name='u')
  call w%make(ha_real64, [n], ghosts=[1], at=ctx, name='w')
  call u%fill(0.0_real64, ctx)
  call w%fill(0.0_real64, ctx)
  inner = u%interior()
  call inner%overwrite(new)
  new = [(sin(pi*i/(n + 1)), i=1, n)]
  call inner%close()

  do step = 1, steps
    inner = w%interior()
    call u%read(old)
    call inner%overwrite(new)
    do i = 1, n
      new(i) = old(i) + r*(old(i - 1) - 2*old(i) + old(i + 1))
    end do
    call inner%close()
    call u%close()
    t = u
    u = w
    w = t
  end do

  factor = (1 - 4*r*sin(pi/(2*(n + 1)))**2)**steps
  call u%read(old)
  error = maxval(abs(old(1:n) - [(factor*sin(pi*i/(n + 1)), i=1, n)]))
  call u%close()
  call u%free()
  call w%free()
  print '(a, es9.1)', 'largest error:', error
  if (error > 1e-12_real64) error stop 'the result is wrong'
end program
