import { join } from "node:path";
import type { JsonText, NetnsPath } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import type { Chain } from "../../cni/chain.ts";
import { ipamOf } from "../../cni/ipam.ts";
import { parseResult } from "../../cni/result.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import { readHostFolder } from "../../hands/host-folder.ts";
import { leaseOf } from "../../hands/lease.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";

export interface LeftBehindNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "runtimeCniDir">;
}

/** What was there before the ADD. */
export interface Before {
  readonly inNetns: readonly string[];
  readonly onHost: readonly string[];
}

/** The kernel may need a moment to remove the host's end of an interface. */
const goneMsMax = 3_000;
const lookMs = 100;

/** Compares namespace, host and the folders of host-local before and after a dry run. */
export class LeftBehind {
  readonly #needs: LeftBehindNeeds;

  constructor(needs: LeftBehindNeeds) {
    this.#needs = needs;
  }

  async before(hand: Hand, netns: NetnsPath): Promise<Before> {
    return { inNetns: await linksIn(hand, netns), onHost: await linksIn(hand, "") };
  }

  /** What is left of the record, one phrase each. Pods come and go meanwhile, so only what bears its mark counts. */
  async find(hand: Hand, record: AttachmentRecord, before: Before): Promise<readonly string[]> {
    const { clock } = this.#needs;
    const untilMs = clock.monotonicMs() + goneMsMax;
    for (;;) {
      const left = await this.#look(hand, record, before);
      if (left.length === 0 || clock.monotonicMs() >= untilMs) return left;
      await clock.sleep(lookMs);
    }
  }

  /** The addresses that host-local holds for the record. */
  async leases(hand: Hand, { chains, containerId }: AttachmentRecord): Promise<readonly string[]> {
    const held = await Promise.all(this.#folders(chains).map((folder) => leasesIn(hand, folder, containerId)));
    return held.flat();
  }

  async #look(hand: Hand, record: AttachmentRecord, before: Before): Promise<readonly string[]> {
    const inNetns = await linksIn(hand, record.netns.path as NetnsPath);
    const onHost = await linksIn(hand, "");
    const version = record.chains[0]?.cniVersion ?? "";
    const made = [...record.steps.values()].flatMap(({ result }) => hostInterfaces(result, version));
    return [
      ...inNetns.filter((name) => !before.inNetns.includes(name)).map((name) => `interface ${name} in the namespace`),
      ...[...new Set(made)]
        .filter((name) => onHost.includes(name) && !before.onHost.includes(name))
        .map((name) => `interface ${name} on the host`),
      ...(await this.leases(hand, record)).map((address) => `the address ${address} of host-local`),
    ];
  }

  #folders(chains: readonly Chain[]): readonly { readonly dataDir: string; readonly network: string }[] {
    const usual = join(this.#needs.config.runtimeCniDir, "networks");
    return chains.flatMap(({ links, confName }) =>
      links
        .map(({ stdin }) => ipamOf(stdin))
        .filter(({ type }) => type === "host-local")
        .map(({ dataDir }) => ({ dataDir: dataDir === "" ? usual : dataDir, network: confName })),
    );
  }
}

async function linksIn(hand: Hand, netns: NetnsPath | ""): Promise<readonly string[]> {
  return (await hand.links(netns))?.names ?? [];
}

async function leasesIn(
  hand: Hand,
  place: { readonly dataDir: string; readonly network: string },
  containerId: string,
): Promise<readonly string[]> {
  const leases = await readHostFolder(hand, join(place.dataDir, place.network), (entry) => leaseOf(entry, place));
  return (leases ?? []).filter((lease) => lease.containerId === containerId).map(({ address }) => address);
}

/** Interfaces that a plugin's result names outside of the pod. */
function hostInterfaces(result: JsonText | undefined, version: string): readonly string[] {
  const { interfaces = [] } = result === undefined ? {} : parseResult(result, version);
  return interfaces.filter(({ sandbox = "" }) => sandbox === "").map(({ name }) => name);
}
