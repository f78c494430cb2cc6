# Written by `offcut init --rewrite`, which also removes it. It stands before each line of an agent (`. this; LINE`): the
# whole line then runs in a bash whose output is bounded and kept, where this does nothing. Other shells pass over it.
if [ "${OFFCUT_LINE-}" = "$PPID" ] || [ "${OFFCUT_LINE-}" = "$$" ]; then
  unset OFFCUT_LINE
elif [ -n "${BASH_EXECUTION_STRING+set}" ] && [ -x {link} ]; then
  export OFFCUT_LINE=$$
  if shopt -q login_shell; then
    exec {link} -l -c "$BASH_EXECUTION_STRING" "$0" "$@"
  fi
  exec {link} -c "$BASH_EXECUTION_STRING" "$0" "$@"
fi
