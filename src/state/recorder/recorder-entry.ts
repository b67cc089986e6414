import { encodeLine, lineVersion, readLines } from "../files/checked-line.ts";

/** One entry of the flight recorder, about a pod or the daemon itself. */
export interface RecorderEntry {
  readonly wallMs: number;
  /** `namespace/name`; `/container` for a pod without a name; `everyPod` for an entry about all pods. */
  readonly pod: string;
  readonly containerId: string;
  readonly verb: string;
  readonly what: string;
  readonly facts: RecorderFacts;
}

/** Short texts and numbers. */
export type RecorderFacts = Readonly<Record<string, string | number | undefined>>;

/** The pod key of entries about all pods. No namespace has this name. */
export const everyPod = "*";

export function podKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** One line with a checksum. The body is an array, because field names would be a third of it. */
export function encodeEntry({ wallMs, pod, containerId, verb, what, facts }: RecorderEntry): string {
  return encodeLine("F", JSON.stringify([wallMs, pod, containerId, verb, what, facts]));
}

/** The readable entries of some lines. Torn or damaged lines and other versions are skipped. */
export function decodeEntries(lines: Buffer): readonly RecorderEntry[] {
  const entries: RecorderEntry[] = [];
  for (const part of readLines(lines, "F")) {
    const entry = part.kind === "line" && part.version === lineVersion ? parseBody(part.body) : undefined;
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

function parseBody(body: string): RecorderEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // The checksum is right, so another version wrote this in its own format.
    return undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const [wallMs, pod, containerId, verb, what, facts] = value as unknown[]; // each is checked below
  if (typeof wallMs !== "number" || typeof pod !== "string" || typeof containerId !== "string") return undefined;
  if (typeof verb !== "string" || typeof what !== "string") return undefined;
  return { wallMs, pod, containerId, verb, what, facts: factsOf(facts) };
}

function factsOf(value: unknown): RecorderFacts {
  if (typeof value !== "object" || value === null) return {};
  const known = Object.entries(value).filter(([, fact]) => typeof fact === "string" || typeof fact === "number");
  return Object.fromEntries(known);
}
