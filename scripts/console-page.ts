/**
 * `bun scripts/console-page.ts [NODES] [PORT]`: the page of dist/console/page.txt on a server with invented facts, for
 * work on the page.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { ConsoleServer } from "../src/console/serve/console-server.ts";
import { InventedDesk, InventedViewers } from "../src/console/serve/invented.fixture.ts";
import { loopbackHost } from "../src/console/serve/own-host.ts";
import { parsePageFiles } from "../src/console/serve/page-files.ts";

const [nodes = "3", port = "0"] = process.argv.slice(2);
const log = (message: string, fields?: object): void => console.error(message, fields);
const desk = new InventedDesk(Number(nodes));
const server = new ConsoleServer({
  clock: systemClock,
  logger: { debug: log, info: log, warn: log, error: log },
  host: "127.0.0.1",
  port: Number(port),
  rules: (own) => ({ token: "page", isOwnHost: loopbackHost(own), schemes: ["http"] }),
  viewers: new InventedViewers(),
  desk,
  files: parsePageFiles(readFileSync(join(resolve(import.meta.dirname, ".."), "dist/console/page.txt"), "utf8")),
  explainFailure: (thrown) => ({ status: 500, problem: { code: "internal", message: String(thrown), remedy: "" } }),
});
console.log(`http://127.0.0.1:${await server.listen()}/page/`);
setInterval(() => {
  desk.nowMs = Date.now();
  const waiting = Math.round(100 + 80 * Math.sin(desk.nowMs / 20_000));
  desk.points.push({ atMs: desk.nowMs, waiting, attached: 900 - waiting, done: 3, byNamespace: { shop: waiting } });
  const [first, ...rest] = desk.cells;
  if (first !== undefined) desk.cells = [{ ...first, adds: waiting, state: "busy" }, ...rest];
}, 5_000);
