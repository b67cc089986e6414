/** Every option of our lines. The first four take the word behind them. */
const options =
  /^(?:-[ncop]|-A|--all-namespaces|--overwrite|--type=json|--(?:hard=pods|limits=memory|field-selector)=.*)$/;
const takesWord = /^-[ncop]$/;

/**
 * What a person types to do the same by hand. Every word from outside is quoted, though the API server checks names. One
 * that would be read as an option is refused: what begins with a hyphen is one of ours, and never stands for a value.
 */
export function kubectl(...words: readonly string[]): string {
  for (const [index, word] of words.entries()) {
    const isValue = takesWord.test(words[index - 1] ?? "") && !takesWord.test(words[index - 2] ?? "");
    if (word === "" || (word.startsWith("-") && (isValue || !options.test(word))))
      throw new RangeError(`A kubectl line cannot have the word ${JSON.stringify(word)} as a value`);
  }
  return ["kubectl", ...words].map(shellWord).join(" ");
}

/** A word as a shell takes it literally. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

interface RemovalOf {
  readonly namespace: string;
  readonly decision: string;
  /** The step's place in the plan, from 1 on. */
  readonly step: number;
}

/**
 * Removes the very pods of a step, each only if it still has its UID. `kubectl delete` cannot say that by itself, so the
 * options are sent as they are; without a grace period when `force` is asked for.
 */
export function removalLine({ namespace, decision, step }: RemovalOf, force: boolean): string {
  const template = `{range .spec.steps[${step - 1}].targets[*]}{.namespace} {.name} {.uid}{"\\n"}{end}`;
  const list = kubectl("-n", namespace, "get", "decision", decision, "-o", `jsonpath=${template}`);
  const grace = force ? `"gracePeriodSeconds":0,` : "";
  const options = `{"kind":"DeleteOptions","apiVersion":"v1",${grace}"preconditions":{"uid":"%s"}}`;
  const remove = `printf '${options}' "$uid" | kubectl delete --raw "/api/v1/namespaces/$namespace/pods/$name" -f -`;
  return `${list} | while read -r namespace name uid; do ${remove}; done`;
}

/** Kind and name come from owner references, in which anything may stand. */
export function rolloutRestartLine(kind: string, namespace: string, name: string): string {
  const restartable = ["Deployment", "DaemonSet", "StatefulSet"];
  if (![kind, name].every((text) => /^[A-Za-z0-9][-.\w]*$/.test(text)))
    return kubectl("-n", namespace, "get", "pods", "-o", "wide");
  if (!restartable.includes(kind)) return kubectl("-n", namespace, "describe", kind.toLowerCase(), name);
  return kubectl("-n", namespace, "rollout", "restart", `${kind.toLowerCase()}/${name}`);
}
