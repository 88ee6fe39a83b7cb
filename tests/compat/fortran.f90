! Two threads, made by pthread_create, in Fortran alone: `counted` is guarded by a mutex, `shared` by nothing.
module work
  use iso_c_binding
  implicit none
  integer(c_int), target :: counted = 0, shared = 0
  integer(c_int8_t), target :: mutex(40) = 0_c_int8_t ! all zero: PTHREAD_MUTEX_INITIALIZER
  real(8) :: field(64) = 0

  interface
    integer(c_int) function pthread_create(thread, attr, routine, arg) bind(c)
      import
      integer(c_long) :: thread
      type(c_ptr), value :: attr, arg
      type(c_funptr), value :: routine
    end function
    integer(c_int) function pthread_join(thread, result) bind(c)
      import
      integer(c_long), value :: thread
      type(c_ptr), value :: result
    end function
    integer(c_int) function pthread_mutex_lock(m) bind(c)
      import
      integer(c_int8_t) :: m(40)
    end function
    integer(c_int) function pthread_mutex_unlock(m) bind(c)
      import
      integer(c_int8_t) :: m(40)
    end function
  end interface
contains
  subroutine add_up()
    integer(c_int) :: rc
    rc = pthread_mutex_lock(mutex)
    counted = counted + 1
    field = field + 1.0d0
    rc = pthread_mutex_unlock(mutex)
  end subroutine

  subroutine spoil()
    shared = shared + 1 ! RACE
  end subroutine

  function body(arg) bind(c) result(res)
    type(c_ptr), value :: arg
    type(c_ptr) :: res
    call add_up()
    call spoil()
    res = arg
  end function
end module

program fortran
  use work
  implicit none
  integer(c_long) :: threads(2)
  integer(c_int) :: rc
  integer :: i
  do i = 1, 2
    rc = pthread_create(threads(i), c_null_ptr, c_funloc(body), c_null_ptr)
  end do
  do i = 1, 2
    rc = pthread_join(threads(i), c_null_ptr)
  end do
  if (counted /= 2 .or. any(field /= 2.0d0)) stop 3
  print '(a)', 'done'
end program
