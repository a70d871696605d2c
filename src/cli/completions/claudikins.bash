# claudikins completions for bash. The script asks claudikins for candidates and runs nothing that you type.
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

# Old versions of bash have no compopt: they offer files when there are no other candidates.
if type compopt >/dev/null 2>&1; then
  complete -F _claudikins claudikins
else
  complete -o default -F _claudikins claudikins
fi
