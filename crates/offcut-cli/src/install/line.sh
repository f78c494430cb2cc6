# Written by `offcut init --rewrite`; remove it with `offcut init AGENT --uninstall`.
# The agent's command lines are prefixed with `. THIS_FILE; `. In bash, this hands the whole line to offcut, which
# shortens and stores its output; inside that shell, and in other shells, it does nothing.
if [ "${OFFCUT_LINE-}" = "$PPID" ] || [ "${OFFCUT_LINE-}" = "$$" ]; then
  unset OFFCUT_LINE
elif [ -n "${BASH_EXECUTION_STRING+set}" ] && [ -x {program} ]; then
  export OFFCUT_LINE=$$
  {handover}
fi
