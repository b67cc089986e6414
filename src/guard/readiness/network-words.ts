import type { Clock } from "../../base/clock.ts";
import { isObject } from "../../kube/client/json-fields.ts";
import { networksPerQuestion, networksQuestion, type NetworkWord } from "../../wire/network-question.ts";
import { getText } from "../observe/get-text.ts";
import type { NodeToAsk } from "../observe/node-view-source.ts";

interface NetworkWordsOptions {
  readonly clock: Clock;
  /** The daemons' metrics port on their hosts. */
  readonly port: number;
}

/** What one daemon says, by network. */
export type WordsOfNode = ReadonlyMap<string, NetworkWord>;

/** A daemon answers from memory; a slower one is overloaded. */
const answerMs = 2_000;
const answerBytesMax = 262_144;
const lanes = 32;

/** Asks the daemons of nodes about networks. A daemon that does not answer is left out. */
export async function askNetworkWords(
  nodes: readonly NodeToAsk[],
  networks: readonly string[],
  options: NetworkWordsOptions,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, WordsOfNode>> {
  const words = new Map<string, WordsOfNode>();
  const waiting = [...nodes];
  const lane = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined && !signal.aborted; one = waiting.shift()) {
      const said = await wordsOf(one, networks, options, signal).catch(() => undefined);
      if (said !== undefined) words.set(one.node, said);
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, nodes.length) }, lane));
  return words;
}

async function wordsOf(
  { address }: NodeToAsk,
  networks: readonly string[],
  { clock, port }: NetworkWordsOptions,
  signal: AbortSignal,
): Promise<WordsOfNode> {
  const host = address.includes(":") ? `[${address}]` : address;
  const words = new Map<string, NetworkWord>();
  for (let at = 0; at < networks.length; at += networksPerQuestion) {
    const path = networksQuestion(networks.slice(at, at + networksPerQuestion));
    const request = { server: `http://${host}:${port}`, path, bytesMax: answerBytesMax, deadlineMs: answerMs };
    for (const word of parseWords(await getText(clock, request, signal))) words.set(word.network, word);
  }
  return words;
}

function parseWords(text: string): readonly NetworkWord[] {
  const value: unknown = JSON.parse(text);
  const list = isObject(value) && Array.isArray(value["networks"]) ? value["networks"] : [];
  return list.flatMap(wordOf);
}

const states: ReadonlySet<unknown> = new Set<NetworkWord["state"]>(["ready", "not-ready", "unknown", "absent"]);

function wordOf(value: unknown): readonly NetworkWord[] {
  if (!isObject(value)) return [];
  const { network, state, reasons, mark } = value;
  if (typeof network !== "string" || typeof mark !== "string" || !states.has(state) || !Array.isArray(reasons))
    return [];
  const texts = reasons.filter((reason) => typeof reason === "string");
  return [{ network, state: state as NetworkWord["state"], reasons: texts, mark }]; // one of the set
}
