/**
 * Runs a program of the packages: `node scripts/with-packages.mjs PROGRAM ARGUMENT...`. Installs the packages first if they
 * are missing or belong to another package-lock.json. Needs only Node, so that every npm script works on a fresh clone.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join, resolve } from "node:path";

/** @typedef {Record<string, { version?: string, optional?: boolean } | undefined>} Packages */
/** @typedef {{ code: number | null, signal: NodeJS.Signals | null }} End */

const root = resolve(import.meta.dirname, "..");
const forwarded = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

const [program, ...args] = process.argv.slice(2);
if (program === undefined) {
  console.error("Usage: node scripts/with-packages.mjs PROGRAM ARGUMENT...");
  process.exit(2);
}
if (!isInstalled()) await install();
const path = [join(root, "node_modules/.bin"), process.env["PATH"] ?? ""].join(delimiter);
endLike(await run(program, args, { stdio: "inherit", env: { ...process.env, PATH: path } }));

/** npm writes its list of installed packages at the very end, so an interrupted installation has none. */
function isInstalled() {
  const installed = packagesIn("node_modules/.package-lock.json");
  const wanted = packagesIn("package-lock.json");
  if (installed === undefined || wanted === undefined) return false;
  return Object.entries(wanted).every(([name, entry]) => {
    // The root is not a package, and an optional package may be for another platform.
    if (name === "" || (entry?.optional === true && installed[name] === undefined)) return true;
    return installed[name]?.version === entry?.version;
  });
}

/**
 * @param {string} file
 * @returns {Packages | undefined}
 */
function packagesIn(file) {
  if (!existsSync(join(root, file))) return undefined;
  try {
    const lock = /** @type {{ packages?: Packages }} */ (JSON.parse(readFileSync(join(root, file), "utf8")));
    return lock.packages;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function install() {
  console.error("Installing the packages: npm ci");
  const npm = process.env["npm_execpath"] ?? "";
  const flags = ["ci", "--include=dev", "--no-audit", "--no-fund"];
  // The npm that runs this script, if one does.
  const [file, argv] = npm.endsWith("npm-cli.js") ? [process.execPath, [npm, ...flags]] : ["npm", flags];
  // Standard output belongs to the program and may be JSON.
  const end = await run(file, argv, { cwd: root, stdio: ["ignore", 2, 2] });
  if (end.code === 0) return;
  if (end.signal !== null) endLike(end);
  console.error(`Cannot install the packages: npm ended with ${end.code}; run npm ci to see more`);
  process.exit(1);
}

/**
 * Resolves to how the program ended. Signals that ask this process to end go to the program, which cleans up.
 *
 * @param {string} file
 * @param {readonly string[]} argv
 * @param {import("node:child_process").SpawnOptions} options
 * @returns {Promise<End>}
 */
function run(file, argv, options) {
  return new Promise((done) => {
    const forward = (/** @type {NodeJS.Signals} */ signal) => child.kill(signal);
    // Before the program starts: a signal in between would end this process and leave the program behind.
    for (const signal of forwarded) process.on(signal, forward);
    const child = spawn(file, argv, options);
    const end = (/** @type {End} */ outcome) => {
      for (const signal of forwarded) process.off(signal, forward);
      done(outcome);
    };
    child.on("error", (error) => {
      console.error(`Cannot start ${file}: ${error.message}`);
      // The status that a shell gives.
      end({ code: "code" in error && error.code === "ENOENT" ? 127 : 126, signal: null });
    });
    child.on("exit", (code, signal) => end({ code, signal }));
  });
}

/**
 * Ends as the program did, by its status or by the same signal.
 *
 * @param {End} end
 * @returns {never}
 */
function endLike({ code, signal }) {
  if (signal !== null) process.kill(process.pid, signal);
  // Only after a signal that cannot end this process. The status is the one that a shell gives.
  return process.exit(signal === null ? code : 128 + constants.signals[signal]);
}
