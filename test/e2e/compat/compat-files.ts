import { readFile } from "node:fs/promises";
import type { CniCall, Lab } from "../../lab/lab.ts";
import { filesIn } from "../../lab/leftovers.ts";
import type { Pod } from "./compat-cluster.ts";

/** Keys whose value is a configuration in base64: the order of its members differs. */
const encoded: ReadonlySet<string> = new Set(["Bytes", "config"]);

/** The files that an ADD left for its DEL, less what differs between two pods. */
export async function filesOf(
  folder: string,
  { pod, call, count }: { pod: Pod; call: CniCall; count: number },
  lab: Lab,
): Promise<Readonly<Record<string, unknown>>> {
  const files = await lab.until(`${folder} has ${count} files of the container`, async () => {
    const found = (await filesIn(folder)).filter((file) => file.includes(call.containerId));
    return found.length === count ? found : undefined;
  });
  const plain = (text: string): string =>
    text
      .replaceAll(call.containerId, "CONTAINER")
      .replaceAll(pod.metadata.uid, "UID")
      .replaceAll(call.netns ?? "", "NETNS")
      .replaceAll(`["K8S_POD_NAMESPACE","${pod.metadata.namespace ?? ""}"]`, '["K8S_POD_NAMESPACE","NAMESPACE"]');
  const entries = await Promise.all(
    files.map(async (file): Promise<[string, unknown]> => {
      const text = plain(await readFile(file, "utf8"));
      return [plain(file.slice(folder.length)), JSON.parse(text, decode)];
    }),
  );
  return Object.fromEntries(entries);
}

function decode(key: string, value: unknown): unknown {
  if (!encoded.has(key) || typeof value !== "string") return value;
  return JSON.parse(Buffer.from(value, "base64").toString());
}
