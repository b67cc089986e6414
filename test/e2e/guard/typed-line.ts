import { spawnSync } from "node:child_process";
import type { Decision } from "../../../src/guard/decision/decision.ts";
import { adminToken, type PolicyServer } from "../policy-server.ts";

/** The lines that a waiting step shows for a person to type. */
export function linesOf(status: Decision["status"]): readonly string[] {
  return (status?.steps ?? []).flatMap(({ lines }) => lines ?? []);
}

/** As a person would, with the administrator's access. */
export function typeLine(server: PolicyServer, line: string): void {
  const options = `--server=${server.url} --insecure-skip-tls-verify --token=${adminToken}`;
  const script = `kubectl() { command kubectl ${options} "$@"; }\n${line}`;
  const { status, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${line}: ${stderr}`);
}
