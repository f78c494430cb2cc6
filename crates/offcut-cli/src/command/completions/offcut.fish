# Completions of offcut for fish, printed by `offcut completions fish`.

function __offcut_complete
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l current (commandline --current-token --cut-at-cursor)
    set -l reply (PROGRAM __complete $words "$current" 2>/dev/null)
    switch "$reply[1]"
        case 'command *'
            # The rest of the line is a command line of its own.
            set -l first (math (string replace 'command ' '' -- $reply[1]) + 1)
            set -l line
            test $first -le (count $words); and set line (string escape -- $words[$first..-1])
            complete --do-complete "$(string join ' ' -- $line "$current")"
        case files
            # The path is that after `--option=`.
            set -l option (string match --regex -- '^--[^=]*=' "$current")
            set -l paths (__fish_complete_path (string replace -- "$option" '' "$current"))
            printf '%s\n' "$option"$paths
        case words
            printf '%s\n' $reply[2..-1]
    end
end

complete --command offcut --no-files --keep-order --arguments '(__offcut_complete)'
