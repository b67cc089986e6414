import { encodeLine, lineVersion, readLines } from "../files/checked-line.ts";

/** One thing that happened to a pod, or to the daemon itself, as the flight recorder keeps it. */
export interface RecorderEntry {
  readonly wallMs: number;
  /** `namespace/name`; `/container` for a pod without a name; `everyPod` for what concerns them all. */
  readonly pod: string;
  readonly containerId: string;
  readonly verb: string;
  readonly what: string;
  readonly facts: RecorderFacts;
}

/** Short texts and numbers. */
export type RecorderFacts = Readonly<Record<string, string | number | undefined>>;

/** Whose story it is when it is everybody's: no namespace is called so. */
export const everyPod = "*";

export function podKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** One line with a checksum. An array, as names of fields would be a third of it. */
export function encodeEntry({ wallMs, pod, containerId, verb, what, facts }: RecorderEntry): string {
  return encodeLine("F", JSON.stringify([wallMs, pod, containerId, verb, what, facts]));
}

/** What can be read of some lines. Those that are torn, damaged, or of another version are passed over. */
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
    // The checksum is right, so this was written by somebody else's idea of the format.
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
