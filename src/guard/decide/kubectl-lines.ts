/** All options that our lines use. The first five take the next word as their value. */
const options =
  /^(?:-[lncop]|-A|--all-namespaces|--overwrite|--type=(?:json|merge)|--(?:hard=pods|limits=memory|requests=memory|field-selector|replicas)=.*)$/;
const takesWord = /^-[lncop]$/;

/**
 * The line that a person types to do the same by hand. Words from outside are quoted, although the API server checks
 * names. A value that kubectl would read as an option is refused: only our own options begin with a hyphen.
 */
export function kubectl(...words: readonly string[]): string {
  for (const [index, word] of words.entries()) {
    const isValue = takesWord.test(words[index - 1] ?? "") && !takesWord.test(words[index - 2] ?? "");
    if (word === "" || (word.startsWith("-") && (isValue || !options.test(word))))
      throw new RangeError(`Cannot use ${JSON.stringify(word)} as a value in a kubectl line`);
  }
  return ["kubectl", ...words].map(shellWord).join(" ");
}

/** Quotes a word so that a shell takes it literally. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

interface RemovalOf {
  readonly namespace: string;
  readonly decision: string;
  /** The step's position in the plan, starting at 1. */
  readonly step: number;
}

/**
 * Removes exactly the pods of a step, each only if it still has its UID. `kubectl delete` has no such option, so the line
 * sends the delete options itself; with `force` there is no grace period.
 */
export function removalLine({ namespace, decision, step }: RemovalOf, force: boolean): string {
  const template = `{range .spec.steps[${step - 1}].targets[*]}{.namespace} {.name} {.uid}{"\\n"}{end}`;
  const list = kubectl("-n", namespace, "get", "decision", decision, "-o", `jsonpath=${template}`);
  const grace = force ? `"gracePeriodSeconds":0,` : "";
  const options = `{"kind":"DeleteOptions","apiVersion":"v1",${grace}"preconditions":{"uid":"%s"}}`;
  const remove = `printf '${options}' "$uid" | kubectl delete --raw "/api/v1/namespaces/$namespace/pods/$name" -f -`;
  return `${list} | while read -r namespace name uid; do ${remove}; done`;
}

/** A line of this many names of full length stays below the CRD's limit. */
const namesPerLine = 20;

/** The lines that let suspended Jobs run again. */
export function resumeJobLines(namespace: string, names: readonly string[]): readonly string[] {
  const patch = `kubectl -n ${shellWord(namespace)} patch job "$name" --type=merge -p '{"spec":{"suspend":false}}'`;
  return Array.from({ length: Math.ceil(names.length / namesPerLine) }, (_, index) => {
    const some = names.slice(index * namesPerLine, (index + 1) * namesPerLine);
    return `for name in ${some.map(shellWord).join(" ")}; do ${patch}; done`;
  });
}

/** Takes Jobs from Kueue, which then suspends them and does not resume them. Its objects have the UID of the Job as a label. */
export function kueueStopLine(namespace: string, uids: readonly string[]): string {
  const selector = `kueue.x-k8s.io/job-uid in (${uids.join(",")})`;
  const list = kubectl("-n", namespace, "get", "workloads.kueue.x-k8s.io", "-l", selector, "-o", "name");
  const patch = kubectl("-n", namespace, "patch", "--type=merge", "-p", '{"spec":{"active":false}}');
  return `${list} | xargs -r -n 1 ${patch}`;
}

/** Kind and name come from owner references, which can hold anything. */
export function rolloutRestartLine(kind: string, namespace: string, name: string): string {
  const restartable = ["Deployment", "DaemonSet", "StatefulSet"];
  if (![kind, name].every((text) => /^[A-Za-z0-9][-.\w]*$/.test(text)))
    return kubectl("-n", namespace, "get", "pods", "-o", "wide");
  if (!restartable.includes(kind)) return kubectl("-n", namespace, "describe", kind.toLowerCase(), name);
  return kubectl("-n", namespace, "rollout", "restart", `${kind.toLowerCase()}/${name}`);
}
