import { disk } from "../../base/disk/disk.ts";
import { join } from "node:path";
import type { ContainerId, IfName, JsonText } from "../../base/brand.ts";
import { errnoOf, LeveeError } from "../../base/errors.ts";
import { asJsonText, jsonKind, memberText, scanObject, valueOf } from "../../cni/json-text.ts";
import { listAt, optionalTextAt, parseShape, textAt, asText } from "../files/json-shape.ts";

/** One file of libcni's cache (`results/<network>-<container>-<interface>`), with its JSON parts as text. */
export interface MultusResult {
  readonly containerId: ContainerId;
  readonly ifname: IfName;
  readonly networkName: string;
  readonly netns: string;
  /** `KEY=VALUE` pairs joined by `;`, or undefined when the file has none. */
  readonly cniArgs: string | undefined;
  readonly capabilityArgs: Readonly<Record<string, JsonText>>;
  readonly config: JsonText;
  readonly result: JsonText | undefined;
}

interface ResultFolder {
  readonly results: readonly MultusResult[];
  readonly problems: readonly { readonly file: string; readonly reason: string }[];
}

/** A node with 250 pods has about a thousand. More files are years of Multus' leftovers. */
const filesMax = 20_000;

export function resultsFolderOf(cniDir: string): string {
  return join(cniDir, "results");
}

/** Reads the whole folder, or only the files of one container. */
export async function readResults(cniDir: string, containerId?: ContainerId): Promise<ResultFolder> {
  const results: MultusResult[] = [];
  const problems: { file: string; reason: string }[] = [];
  for (const name of await namesIn(resultsFolderOf(cniDir), containerId)) {
    const file = join(resultsFolderOf(cniDir), name);
    try {
      const result = parseResultFile(await disk.readFile(file), file);
      if (containerId === undefined || result.containerId === containerId) results.push(result);
    } catch (cause) {
      problems.push({ file, reason: cause instanceof Error ? cause.message : String(cause) });
    }
  }
  return { results, problems };
}

async function namesIn(folder: string, containerId: ContainerId | undefined): Promise<readonly string[]> {
  const names = await disk.readdir(folder).catch((cause: unknown) => {
    if (errnoOf(cause) === "ENOENT") return [];
    throw cause;
  });
  const wanted = names.filter(
    (name) => !name.startsWith(".") && (containerId === undefined || name.includes(`-${containerId}-`)),
  );
  return wanted.toSorted().slice(0, filesMax);
}

function parseResultFile(file: Buffer, what: string): MultusResult {
  const text = asJsonText(file, what);
  const shape = parseShape(text, what);
  if (shape["kind"] !== "cniCacheV1") {
    throw new LeveeError(
      "decode-failed",
      `Cannot use ${what} as its kind must be cniCacheV1: current value is ${JSON.stringify(shape["kind"])}`,
    );
  }
  return {
    containerId: textAt(shape, "containerId") as ContainerId,
    ifname: textAt(shape, "ifName") as IfName,
    networkName: textAt(shape, "networkName"),
    netns: optionalTextAt(shape, "netns") ?? "",
    cniArgs:
      shape["cniArgs"] === undefined || shape["cniArgs"] === null ? undefined : argsText(listAt(shape, "cniArgs")),
    capabilityArgs: membersOf(memberText(text, "capabilityArgs")),
    config: asJsonText(Buffer.from(textAt(shape, "config"), "base64"), `the configuration in ${what}`),
    result: objectOrNothing(memberText(text, "result")),
  };
}

function argsText(pairs: readonly unknown[]): string {
  return pairs
    .map((pair) => {
      const [key, value] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
      return `${asText(key, "cniArgs")}=${asText(value, "cniArgs")}`;
    })
    .join(";");
}

function membersOf(text: JsonText | undefined): Readonly<Record<string, JsonText>> {
  const object = objectOrNothing(text);
  if (object === undefined) return {};
  return Object.fromEntries(scanObject(object).map((member) => [member.key, valueOf(object, member)]));
}

function objectOrNothing(text: JsonText | undefined): JsonText | undefined {
  return text !== undefined && jsonKind(text) === "object" ? text : undefined;
}
