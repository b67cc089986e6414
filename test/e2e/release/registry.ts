import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../lab/free-port.ts";
import { Program } from "../program.ts";

export interface Registry {
  /** Host and port. It has no TLS. */
  readonly address: string;
  stop(): Promise<void>;
}

/** Debian's registry for images, on this machine only. */
export async function startRegistry(folder: string): Promise<Registry> {
  mkdirSync(folder, { recursive: true });
  const address = `127.0.0.1:${await freePort()}`;
  const config = join(folder, "config.yml");
  writeFileSync(
    config,
    `version: 0.1\nlog: {level: warn}\nstorage: {filesystem: {rootdirectory: ${folder}/data}}\nhttp: {addr: "${address}"}\n`,
  );
  const program = new Program(folder, "docker-registry", { command: ["docker-registry", "serve", config] });
  program.start();
  await program.untilUp("answers", async () => (await fetch(`http://${address}/v2/`)).ok);
  return { address, stop: () => program.stop() };
}
