# Written by `offcut init`; remove it with `offcut init AGENT --uninstall`.
# bash reads this file (BASH_ENV) before it runs an agent's command line, and hands the line to offcut-bash, which
# shortens and stores its output. Scripts, and every bash that the line starts, are not affected.
if [ -n "${BASH_EXECUTION_STRING+set}" ] && [ -x {link} ]; then
  unset BASH_ENV
  if shopt -q login_shell; then
    exec {link} -l -c "$BASH_EXECUTION_STRING" "$0" "$@"
  fi
  exec {link} -c "$BASH_EXECUTION_STRING" "$0" "$@"
fi
