import { expect } from "bun:test";
import type { Api } from "./api.ts";
import { fetchFrom, podInterfaces } from "./networks.ts";
import type { Pod } from "./pods.ts";
import { statusAnnotation } from "./the-levee.ts";
import { until } from "./until.ts";

interface NetworkStatus {
  readonly name: string;
  readonly interface?: string;
  readonly ips?: readonly string[];
  readonly mac?: string;
  readonly default?: boolean;
}

export function statusOf(pod: Pod): readonly NetworkStatus[] {
  return JSON.parse(pod.metadata.annotations?.[statusAnnotation] ?? "[]") as readonly NetworkStatus[];
}

/** The annotation says what the pod really has, in the order of the request unless another program writes it, too. */
export function expectTrueStatus(pod: Pod, networks: readonly string[], inAnyOrder = false): void {
  const real = podInterfaces(pod.metadata.name);
  const told = statusOf(pod).map(({ name, interface: ifname, ips, mac, default: isDefault }) => ({
    name,
    ifname,
    ips,
    mac,
    isDefault: isDefault ?? false,
  }));
  const expected = ["primary", ...networks].map((name, index) => {
    const ifname = index === 0 ? "eth0" : `net${index}`;
    const link = real.find((candidate) => candidate.ifname === ifname);
    return { name, ifname, ips: link?.addresses, mac: link?.mac, isDefault: index === 0 };
  });
  const compared = inAnyOrder
    ? told.toSorted((one, other) => (one.ifname ?? "").localeCompare(other.ifname ?? ""))
    : told;
  expect(compared).toEqual(expected);
  expect(real).toHaveLength(expected.length);
}

/** Status may follow a little after the pod itself: it is delivered in the background when the API server is slow. */
export function untilTrueStatus(
  find: () => Promise<Pod>,
  networks: readonly string[],
  { timeoutMs = 30_000, inAnyOrder = false } = {},
): Promise<Pod> {
  return until(
    "the network status is right",
    async () => {
      const pod = await find();
      expectTrueStatus(pod, networks, inAnyOrder);
      return pod;
    },
    { timeoutMs, everyMs: 300 },
  );
}

/** Each pod fetches from the next one over the given interface's network. */
export async function expectTraffic(pods: readonly string[], ifname: string): Promise<void> {
  const addresses = pods.map((pod) => podInterfaces(pod).find((link) => link.ifname === ifname)?.addresses[0] ?? "");
  const answers = await Promise.all(
    pods.map((pod, index) => untilFetched(pod, addresses[(index + 1) % pods.length] ?? "")),
  );
  expect(answers).toEqual(pods.map((_, index) => pods[(index + 1) % pods.length] ?? ""));
}

/** A container that runs may not listen yet. */
function untilFetched(pod: string, address: string): Promise<string> {
  return until(`${pod} can fetch from ${address}`, () => fetchFrom(pod, address), { timeoutMs: 20_000, everyMs: 500 });
}

export interface PodEvent {
  readonly reason: string;
  readonly message: string;
  readonly type: string;
}

export function eventsOf(api: Api, pod: string, namespace = "default"): Promise<readonly PodEvent[]> {
  const selector = encodeURIComponent(`involvedObject.name=${pod}`);
  return api.list<PodEvent & { metadata: { name: string } }>(
    `/api/v1/namespaces/${namespace}/events?fieldSelector=${selector}`,
  );
}
