  # The arguments of this shell, because its options apply to the line too; without /proc, as far as variables have them.
  { mapfile -d '' -t offcut_arguments < /proc/self/cmdline; } 2> /dev/null || offcut_arguments=
  case " ${offcut_arguments[*]-} " in
    *" $BASH_EXECUTION_STRING "*) set -- "${offcut_arguments[@]:1}" ;;
    *)
      set -- -c "$BASH_EXECUTION_STRING" "$0" "$@"
      for offcut_option in ${SHELLOPTS//:/ }; do set -- -o "$offcut_option" "$@"; done
      ;;
  esac
  if shopt -q login_shell; then
    set -- --login "$@"
  fi
  unset offcut_arguments offcut_option
  exec {program} offcut-bash "$@"
