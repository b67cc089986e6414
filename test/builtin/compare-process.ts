/**
 * Compares generated cases of one plugin and prints what it found, for a virtual machine:
 * `LEVEE_SEED=… LEVEE_TURNS=… bun compare-process.js PLUGIN VERSION FOLDER`.
 */
import { compareBatch } from "./batch.ts";
import { builtInPlugins } from "./plugins.ts";

const [plugin = "", version = "", folder = ""] = process.argv.slice(2);
const make = builtInPlugins.find(([name]) => name === plugin)?.[1];
if (make === undefined) throw new Error(`There are no cases for the plugin ${plugin}`);
if (version !== "1.1.1" && version !== "1.9.1") throw new Error(`Cannot compare with the version ${version}`);
process.stdout.write(JSON.stringify(await compareBatch({ version, folder }, make, Infinity)));
