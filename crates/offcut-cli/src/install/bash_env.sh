# Written by `offcut init`, which also removes it. bash reads this before it runs a line for an agent (BASH_ENV): the
# line then runs in a bash whose output is bounded and kept. Everything else, and every bash inside, is left alone.
if [ -n "${BASH_EXECUTION_STRING+set}" ] && [ -x {link} ]; then
  unset BASH_ENV
  if shopt -q login_shell; then
    exec {link} -l -c "$BASH_EXECUTION_STRING" "$0" "$@"
  fi
  exec {link} -c "$BASH_EXECUTION_STRING" "$0" "$@"
fi
