#!{interpreter}
# Written by `offcut init`; remove it with `offcut init AGENT --uninstall`.
# An agent's shell: offcut, which runs {shell} and shortens the output of a command line; without offcut, {shell} itself.
# bash passes on all variables, while dash drops those with unusual names, such as exported functions. With -p, bash does not
# read BASH_ENV, which is for the shell below.
case $- in *p*) set +p ;; esac
[ ! -x {program} ] || exec {program} offcut-{shell} "$@"
for offcut_shell in "$(command -v {shell})" /bin/{shell} /usr/bin/{shell} /usr/local/bin/{shell} /opt/homebrew/bin/{shell} /bin/sh; do
  [ ! -x "$offcut_shell" ] || exec "$offcut_shell" "$@"
done
