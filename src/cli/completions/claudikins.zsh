#compdef claudikins
# claudikins completions for zsh. The script asks claudikins for candidates and runs nothing that you type.
_claudikins() {
  local line value paths
  local -a values open
  while IFS= read -r line; do
    case $line in
      ($'\tfiles'|$'\tfolders') paths=${line#$'\t'} ;;
      ($'\topen') open=(-S '') ;;
      (*)
        # A colon ends the name.
        line=${line//\\/\\\\}
        value=${${line%%$'\t'*}//:/\\:}
        [[ $line == *$'\t'* ]] && value+=":${line#*$'\t'}"
        values+=("$value")
        ;;
    esac
  done < <(command claudikins complete zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)
  (( $#values )) && _describe -V claudikins values "${open[@]}"
  if [[ -n $paths ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '--*='
    if [[ $paths == folders ]]; then _files -/; else _files; fi
  fi
}

if [[ $funcstack[1] == _claudikins ]]; then
  _claudikins "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
  compdef _claudikins claudikins
fi
