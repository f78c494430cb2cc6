# Written by `offcut init`; remove it with `offcut init klaude --uninstall`.
# The startup file of a login shell reads this file if the shell runs a command line of klaude, and hands the line to
# offcut, which shortens and stores its output. Every bash that the line starts has the variable, and is not affected.
if [ -n "${BASH_EXECUTION_STRING+set}" ] && [ -x {program} ] && [ "${OFFCUT_KLAUDE-}" != "$KLAUDE_SESSION_ID" ]; then
  export OFFCUT_KLAUDE="$KLAUDE_SESSION_ID"
  {handover}
fi
