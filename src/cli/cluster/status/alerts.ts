import { objectsOf } from "../../../guard/json-values.ts";
import { objectOf, textOf } from "../../../kube/client/json-fields.ts";
import { see, seeList, seeText, type Asking, type Seen } from "../seen.ts";
import { usageFailure } from "../../failure.ts";

/** Firing alerts by name. */
export type AlertCounts = Readonly<Record<string, number>>;

export interface ProxiedService {
  /** The API server's proxy uses it. The proxy verifies no certificate and forwards no token. */
  readonly scheme: string;
  readonly namespace: string;
  readonly name: string;
  readonly port: string;
}

/** The name that Prometheus' operator gives it, in any namespace. */
const operatorService = "alertmanager-operated";
const askMs = 10_000;

/** Asks an Alertmanager through the API server: the named one, else the operator's. */
export async function seeAlerts(asking: Asking, given: string | undefined): Promise<Seen<AlertCounts>> {
  const service = given === undefined ? await findService(asking) : parseProxiedService("--alertmanager", given);
  if (service === undefined)
    return { why: "no Alertmanager was found; name it with --alertmanager NAMESPACE/SERVICE:PORT", status: undefined };
  const path = `${proxyPath(service)}/api/v2/alerts?active=true&silenced=false&inhibited=false`;
  return await see(asking, async () => countsOf(await seeText(asking, path, askMs)));
}

async function findService(asking: Asking): Promise<ProxiedService | undefined> {
  const path = `/api/v1/services?fieldSelector=${encodeURIComponent(`metadata.name=${operatorService}`)}`;
  const found = await seeList(asking, path, (item) => textOf(objectOf(objectOf(item)["metadata"])["namespace"]));
  const [namespace] = "value" in found ? found.value : [];
  return namespace === undefined ? undefined : { scheme: "http", namespace, name: operatorService, port: "9093" };
}

/** `NAMESPACE/SERVICE:PORT`, with `https:` before it for one that speaks TLS. */
export function parseProxiedService(option: "--alertmanager" | "--prometheus", text: string): ProxiedService {
  const [, scheme = "http", namespace = "", name = "", port = ""] =
    /^(?:(https?):)?([a-z0-9-]+)\/([a-z0-9-]+):([a-z0-9-]+)$/u.exec(text) ?? [];
  if (namespace === "")
    throw usageFailure(
      `Cannot use ${JSON.stringify(text)} as ${option}: it must be NAMESPACE/SERVICE:PORT, or https:NAMESPACE/SERVICE:PORT`,
      option === "--alertmanager"
        ? "--alertmanager monitoring/alertmanager-operated:9093"
        : "--prometheus monitoring/prometheus-operated:9090",
    );
  return { scheme, namespace, name, port };
}

/** Below this path the API server passes requests on to the Service. */
export function proxyPath({ scheme, namespace, name, port }: ProxiedService): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${scheme}:${encodeURIComponent(name)}:${port}/proxy`;
}

/** Another program may be behind that port; anything but a list of alerts counts as none. */
function countsOf(text: string): AlertCounts {
  const counts: Record<string, number> = {};
  for (const alert of objectsOf(parsed(text))) {
    const name = textOf(objectOf(alert["labels"])["alertname"]);
    if (name !== "" && name !== "Watchdog" && name !== "InfoInhibitor") counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
