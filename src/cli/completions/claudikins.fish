# claudikins completions for fish. The script asks claudikins for candidates and runs nothing that you type.
function __claudikins_complete
    set -l words (commandline -opc)
    while string match -q -- '*=*' $words[1]
        set -e words[1]
    end
    set -e words[1]
    set -l current (commandline -ct)
    set -l flag (string match -r -- '^--[^=]+=' "$current")
    set -l path (string replace -r -- '^--[^=]+=' '' "$current")
    for line in (command claudikins complete fish -- $words "$current" 2>/dev/null </dev/null)
        switch $line
            case \tfiles
                printf "$flag%s\n" (complete -C "'' $path")
            case \tfolders
                printf "$flag%s\n" (__fish_complete_directories $path '')
            case \topen
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c claudikins -f -k -a '(__claudikins_complete)'
