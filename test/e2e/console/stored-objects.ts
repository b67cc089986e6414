import type { PolicyServer } from "../policy-server.ts";

/** etcd takes no more in one transaction. */
const putsMax = 128;

export interface StoredObject {
  /** Below `/registry/`. */
  readonly key: string;
  readonly object: object;
}

/**
 * Puts objects where the API server keeps them, as JSON, which it reads as well as its own form: ten times as fast as
 * making them one by one. It serves, lists and watches them like any other.
 */
export async function storeObjects(server: PolicyServer, objects: Iterable<StoredObject>): Promise<void> {
  let puts: object[] = [];
  const send = async (): Promise<void> => {
    const body = JSON.stringify({ success: puts });
    puts = [];
    const answer = await fetch(`${server.etcdUrl}/v3/kv/txn`, { method: "POST", body });
    if (!answer.ok) throw new Error(`etcd refused the objects: ${answer.status} ${await answer.text()}`);
  };
  for (const { key, object } of objects) {
    puts.push({ requestPut: { key: base64(`/registry/${key}`), value: base64(JSON.stringify(object)) } });
    if (puts.length === putsMax) await send();
  }
  if (puts.length > 0) await send();
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** What the API server gives to each object that is made through it. */
export function storedMetadata(name: string, namespace?: string): object {
  const creationTimestamp = new Date().toISOString().replace(/\.\d+/u, "");
  return { name, ...(namespace === undefined ? {} : { namespace }), uid: crypto.randomUUID(), creationTimestamp };
}
