import { spawnSync } from "node:child_process";

export interface SocketBytes {
  readonly connections: number;
  /** With TLS, without the headers of TCP and IP. */
  readonly sent: number;
  readonly received: number;
}

/** What the open connections of these processes to a port have carried so far, as the kernel counts it. */
export function socketBytes(pids: readonly number[], port: string): SocketBytes {
  const { status, stdout, stderr } = spawnSync("ss", ["-tinpOH", "state", "established", `( dport = :${port} )`], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`ss failed: ${stderr}`);
  const ours = stdout.split("\n").filter((line) => pids.some((pid) => line.includes(`pid=${pid},`)));
  const sum = (word: string): number =>
    ours.reduce((total, line) => total + Number(new RegExp(` ${word}:(\\d+)`, "u").exec(line)?.[1] ?? 0), 0);
  return { connections: ours.length, sent: sum("bytes_sent"), received: sum("bytes_received") };
}
