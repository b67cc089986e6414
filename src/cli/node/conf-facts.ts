import { join } from "node:path";
import { numberKnobs } from "../../config/knobs.ts";
import { socketPath, type Settings } from "../settings.ts";

/** The parts of the shim's configuration that the commands need too. */
interface ConfFacts {
  readonly socket: string;
  readonly stateDir: string;
  readonly addBudgetMs: number;
}

/** The shim refuses an unreadable configuration; until then the settings are used instead. */
export function confFacts(conf: string, settings: Pick<Settings, "socketDir" | "stateDir">): ConfFacts {
  const members = membersOf(conf);
  const folder = members.get("daemonSocketDir");
  const stateDir = members.get("stateDir");
  const budget = members.get("addBudgetMs");
  return {
    socket: typeof folder === "string" && folder !== "" ? join(folder, "levee.sock") : socketPath(settings),
    stateDir: typeof stateDir === "string" && stateDir !== "" ? stateDir : settings.stateDir,
    addBudgetMs: typeof budget === "number" ? budget : numberKnobs.addBudgetMs.default,
  };
}

function membersOf(conf: string): ReadonlyMap<string, unknown> {
  try {
    const value: unknown = JSON.parse(conf);
    return new Map<string, unknown>(typeof value === "object" && value !== null ? Object.entries(value) : []);
  } catch {
    return new Map();
  }
}
