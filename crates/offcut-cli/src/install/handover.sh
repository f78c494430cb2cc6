  # The arguments of this shell, because its options apply to the line too; without /proc, as far as variables have them.
  if { mapfile -d '' -t offcut_arguments < "/proc/$$/cmdline"; } 2> /dev/null; then
    set -- "${offcut_arguments[@]:1}"
  else
    set -- -c "$BASH_EXECUTION_STRING" "$0" "$@"
    for offcut_option in ${SHELLOPTS//:/ }; do set -- -o "$offcut_option" "$@"; done
  fi
  if shopt -q login_shell; then
    set -- --login "$@"
  fi
  unset offcut_arguments offcut_option
  exec {link} "$@"
