/** Pods that use a network: how many, and the first of them as `namespace/name`. */
export interface NamedPods {
  readonly count: number;
  readonly first: readonly string[];
}

/** A person looks at the first few, and a message has little room. */
export const namedPodsMax = 3;

/** Such as `prod/a, prod/b and 4 more pods use it`. */
export function podsUseIt({ count, first }: NamedPods): string {
  const named = first.slice(0, namedPodsMax);
  const more = count - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${more} more ${more === 1 ? "pod" : "pods"}` : ""} ${count === 1 ? "uses" : "use"} it`;
}
