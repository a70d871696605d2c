# Completions of claudikins for bash. claudikins itself is asked what can come next; nothing that is typed is run.
_claudikins() {
  COMPREPLY=()
  local line
  while IFS= read -r line; do
    case $line in
      $'\tfiles') compopt -o default 2>/dev/null ;;
      $'\tfolders') compopt -o dirnames 2>/dev/null ;;
      $'\topen') compopt -o nospace 2>/dev/null ;;
      *) COMPREPLY+=("$line") ;;
    esac
  done < <(command claudikins complete bash -- "$COMP_WORDBREAKS" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
}

# Old ones cannot be told where files are meant: they offer files wherever there is nothing else.
if type compopt >/dev/null 2>&1; then
  complete -F _claudikins claudikins
else
  complete -o default -F _claudikins claudikins
fi
