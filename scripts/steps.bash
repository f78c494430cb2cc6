# Sourced by the test scripts; needs nothing but bash.

# step LIMIT COMMAND...: run the command without standard input and in its own process group, and stop that group after
# LIMIT seconds, so that a test that hangs is a test that fails.
step() {
    local limit=$1 began=$SECONDS code=0
    shift
    printf '\n==> %s\n' "$*"
    set -m
    "$@" < /dev/null &
    group=$!
    { sleep "$limit" && echo "timed out after $limit s: $*" >&2 && stop_group TERM "$group" && sleep 10 && stop_group KILL "$group"; } &
    watchdog=$!
    set +m
    wait "$group" || code=$?
    [ "$code" = 0 ] || stop_group KILL "$group" || true
    group=
    { stop_group KILL "$watchdog" && wait "$watchdog"; } 2> /dev/null || true
    watchdog=
    if [ "$code" != 0 ]; then
        echo "failed with status $code after $((SECONDS - began)) s: $*" >&2
        exit "$code"
    fi
    echo "$((SECONDS - began)) s"
}

stop_group() { [ -z "${2:-}" ] || kill "-$1" -- "-$2" 2> /dev/null; }

# A terminal sends its signals to the script only, because a step has its own process group.
trap 'stop_group TERM "${group:-}"; stop_group KILL "${watchdog:-}"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
