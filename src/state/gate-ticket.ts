import { readFileSync } from "node:fs";
import { writeFileAtomically } from "../base/atomic-file.ts";
import type { Clock } from "../base/clock.ts";
import { oneLine } from "../base/plain-text.ts";
import { firstChars } from "../base/short-text.ts";
import { crc32 } from "./files/crc32.ts";

/** Whether this node may be rebooted, for `levee-shim gate check`. */
export interface GateTicket {
  readonly isAllowed: boolean;
  readonly reason: string;
  /** For how long from now it counts. Then it is Deny. */
  readonly standsMs: number;
}

interface GateTicketOptions {
  readonly path: string;
  readonly bootId: string;
  readonly clock: Clock;
  readonly uptimeMs?: () => number;
}

/** A line for people. */
const reasonCharsMax = 400;

/**
 * The file behind `levee-shim gate check`, which shim/src/gate/ticket.rs reads. It names the boot, and counts by two
 * clocks: nobody can set the kernel's uptime, so a wall clock that is set back does not keep a ticket alive.
 */
export class GateTicketFile {
  readonly #options: GateTicketOptions;

  constructor(options: GateTicketOptions) {
    this.#options = options;
  }

  async write(ticket: GateTicket): Promise<void> {
    const { path, bootId, clock, uptimeMs = kernelUptimeMs } = this.#options;
    const [wallMs, bootMs] = [Math.floor(clock.wallMs()), Math.floor(uptimeMs())];
    const standsMs = Math.max(0, Math.floor(ticket.standsMs));
    const body = [
      "levee-gate 1",
      `verdict ${ticket.isAllowed ? "Allow" : "Deny"}`,
      `boot ${bootId}`,
      `written ${wallMs}`,
      `expires ${wallMs + standsMs}`,
      `uptime-written ${bootMs}`,
      `uptime-expires ${bootMs + standsMs}`,
      `reason ${firstChars(oneLine(ticket.reason), reasonCharsMax)}`,
      "",
    ].join("\n");
    const seal = crc32(body).toString(16).padStart(8, "0");
    // Not synced: a ticket is void after a power cut. Readable by all: scripts may run as anybody.
    await writeFileAtomically(path, `${body}crc ${seal}\n`, { mode: 0o644, exactMode: true, sync: false });
  }
}

/** Counts the time asleep too. It is rounded down, so that no reader finds a ticket of the future. */
function kernelUptimeMs(): number {
  return Math.floor(Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1_000);
}
