#compdef offcut
# Completions of offcut for zsh, printed by `offcut completions zsh`.

_offcut() {
    local -a reply values
    reply=("${(@f)$(PROGRAM __complete "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    case $reply[1] in
    command\ *)
        # The rest of the line is a command line of its own.
        local -i first=${reply[1]#command }
        shift $first words
        (( CURRENT -= first ))
        _normal
        ;;
    files)
        compset -P '--*='
        _files
        ;;
    words)
        local line value about
        for line in "${(@)reply[2,-1]}"; do
            value=${${line%%$'\t'*}//:/\\:}
            about=${line#*$'\t'}
            values+=("$value${about:+:$about}")
        done
        _describe -V 'offcut' values
        ;;
    esac
}

# As a file in $fpath, this is the function itself; elsewhere it defines the function.
if [[ $funcstack[1] == _offcut ]]; then
    _offcut "$@"
else
    compdef _offcut offcut
fi
