# Written by `offcut init`; remove it with `offcut init AGENT --uninstall`.
# bash reads this file (BASH_ENV) before it runs an agent's command line, and hands the line to offcut, which
# shortens and stores its output. Scripts and every bash that the line starts are not affected. Nor are the lines of other
# programs that inherited the variable from the agent: their own environment has it, while the agent sets it only for its
# children. The first process of a sandbox has it too, and starts the agent's line. The commands of offcut's own hooks, which
# Gemini CLI runs in bash too, print what the agent has to read as a whole.
{
  offcut_flags=$-
  set +x
  offcut_parent=
  # In a sandbox, /proc may number processes as outside of it.
  if [ "$PPID" != 1 ] && [[ /proc/self -ef /proc/$$ ]]; then
    mapfile -d '' -t offcut_parent < "/proc/$PPID/environ" || :
  fi
} 2> /dev/null
if [[ -n ${BASH_EXECUTION_STRING+set} && -x {program} && $BASH_EXECUTION_STRING != "[ ! -x "*" hook "* ]] &&
  [[ " ${offcut_parent[*]}" != *" BASH_ENV="*offcut-bash-env* ]]; then
  unset BASH_ENV offcut_flags offcut_parent
  {handover}
fi
{ [[ $offcut_flags != *x* ]] || set -x; unset offcut_flags offcut_parent; } 2> /dev/null
