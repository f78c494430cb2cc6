# Completions of offcut for bash, printed by `offcut completions bash`.

_offcut() {
    local kind='' value about line
    local -a values=() abouts=()
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -z $kind ]]; then
            kind=$line
            continue
        fi
        value=${line%%$'\t'*}
        about=${line#*$'\t'}
        values+=("$value")
        abouts+=("$about")
    done < <(PROGRAM __complete "${COMP_WORDS[@]:0:COMP_CWORD}" "$2" 2>/dev/null)

    case $kind in
    command\ *)
        # The rest of the line is a command line of its own. bash removes duplicates only when it sorts.
        compopt +o nosort 2>/dev/null
        local first=${kind#command }
        if declare -F _comp_command_offset >/dev/null; then
            _comp_command_offset "$first"
        elif declare -F _command_offset >/dev/null; then
            _command_offset "$first"
        elif ((COMP_CWORD == first)); then
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -c -- "$2")
        fi
        ;;
    words)
        compopt +o bashdefault +o default 2>/dev/null
        # A list of choices shows what they are.
        if [[ $COMP_TYPE == 63 || $COMP_TYPE == 33 ]] && ((${#values[@]} > 1)); then
            local index
            for index in "${!values[@]}"; do
                [[ -n ${abouts[index]} ]] && values[index]+="  (${abouts[index]})"
            done
        fi
        COMPREPLY=("${values[@]}")
        [[ ${#values[@]} == 1 && ${values[0]} == *[=.] ]] && compopt -o nospace 2>/dev/null
        ;;
    esac
    return 0
}

# Without an answer, and for the names of files, bash completes as it does by default.
complete -o nosort -o bashdefault -o default -F _offcut offcut 2>/dev/null ||
    complete -o bashdefault -o default -F _offcut offcut
