import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Machine } from "../machine.ts";
import { Program } from "../program.ts";
import { run } from "../run.ts";
import { until } from "../until.ts";

export const dhcpBridge = "leased0";
/** A way into the bridge for macvlan: what it sends through the bridge itself does not reach this host. */
export const dhcpUplink = "leased-up0";
export const dhcpSocket = "/run/cni/dhcp.sock";
/** Of a lease in the server's file: its seconds, address, MAC, host name, and two bytes to fill up. */
const leaseBytes = 36;
const headBytes = 8;
/** Long enough for a pod on a busy machine, which the daemon keeps by renewals; short enough to wait for its end. */
const leaseSeconds = 30;

/** A site with a DHCP server (busybox), and the daemon of the plugin `dhcp`, which keeps the leases of pods. */
export class DhcpNode {
  readonly daemon: Program;
  readonly #server: Program;
  readonly #wire: Program;
  readonly #leaseFile: string;
  #recordsMax = 0;

  constructor(machine: Machine, busybox: string) {
    this.#leaseFile = machine.path("udhcpd.leases");
    const conf = machine.path("udhcpd.conf");
    writeFileSync(conf, serverConf(this.#leaseFile, machine.path("udhcpd.pid")));
    writeFileSync(this.#leaseFile, "");
    this.#server = new Program(machine.logFolder, "udhcpd", { command: [busybox, "udhcpd", "-f", conf] });
    // Not promiscuous: CHECK compares that of the bridge.
    const dump = ["tcpdump", "-lnpv", "-i", dhcpBridge, "udp dst port 67"];
    this.#wire = new Program(machine.logFolder, "dhcp-wire", { command: dump });
    this.daemon = new Program(machine.logFolder, "dhcp-daemon", { command: ["/opt/cni/bin/dhcp", "daemon"] });
  }

  async start(): Promise<void> {
    run("ip", "link", "add", dhcpBridge, "type", "bridge");
    run("ip", "addr", "add", "10.86.0.1/24", "dev", dhcpBridge);
    run("ip", "link", "set", dhcpBridge, "up");
    run("ip", "link", "add", dhcpUplink, "type", "veth", "peer", "name", "leased-in0");
    run("ip", "link", "set", "leased-in0", "master", dhcpBridge, "up");
    run("ip", "link", "set", dhcpUplink, "up");
    this.#wire.start();
    await this.#wire.untilUp("listens", async () => this.#wire.log.includes("listening on"));
    this.#server.start();
    await this.startDaemon();
  }

  async startDaemon(): Promise<void> {
    // It does not start over the socket of one that was killed.
    rmSync(dhcpSocket, { force: true });
    this.daemon.start();
    await this.daemon.untilUp("listens", async () => existsSync(dhcpSocket));
  }

  async stop(): Promise<void> {
    for (const program of [this.daemon, this.#server, this.#wire]) await program.stop();
    run("ip", "link", "delete", dhcpUplink);
  }

  /** Waits until the server has given away these addresses and no others. */
  async untilLeased(addresses: readonly string[]): Promise<void> {
    await until("the server's leases are those of the pods", () => {
      const now = this.#leases().join(" ");
      if (now === addresses.toSorted().join(" ")) return true;
      throw new Error(`leased are ${now === "" ? "none" : now}`);
    });
  }

  /** The addresses in the releases that went over the wire. */
  releases(): readonly string[] {
    return this.#wire.log
      .split(/^(?=\S)/mu)
      .filter((packet) => packet.includes("DHCP-Message (53), length 1: Release"))
      .map((packet) => /Client-IP (\S+)/u.exec(packet)?.[1] ?? "");
  }

  /** How often the daemon said that it could not send a release. */
  failedReleases(): number {
    return this.daemon.log.split("failed to release DHCP lease: unable to get interface information").length - 1;
  }

  /** The server empties its file before it writes it, every second, and keeps the records of leases that have ended. */
  #leases(): readonly string[] {
    const bytes = readFileSync(this.#leaseFile);
    const records = Math.max(0, (bytes.length - headBytes) / leaseBytes);
    if (records < this.#recordsMax) throw new Error("the file is being written");
    this.#recordsMax = Math.floor(records);
    const found: string[] = [];
    for (let at = headBytes; at + leaseBytes <= bytes.length; at += leaseBytes)
      if (bytes.readUInt32BE(at) > 0) found.push([...bytes.subarray(at + 4, at + 8)].join("."));
    return found.toSorted();
  }
}

function serverConf(leaseFile: string, pidFile: string): string {
  const lines = {
    interface: dhcpBridge,
    start: "10.86.0.10",
    end: "10.86.0.99",
    lease_file: leaseFile,
    pidfile: pidFile,
    // Seconds between two looks at the file.
    auto_time: "1",
  };
  const options = { subnet: "255.255.255.0", router: "10.86.0.1", lease: `${leaseSeconds}` };
  return [
    ...Object.entries(lines).map(([key, value]) => `${key} ${value}\n`),
    ...Object.entries(options).map(([key, value]) => `option ${key} ${value}\n`),
  ].join("");
}
