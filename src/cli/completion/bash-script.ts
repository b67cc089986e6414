/** Asks the program itself, so that it never lags behind. Without an answer bash offers files. */
export const bashScript = `# bash completion of levee: source it, or put it into /etc/bash_completion.d
_levee() {
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" completion words -- "\${words[@]}" 2>/dev/null))
}
complete -o default -F _levee levee
`;
