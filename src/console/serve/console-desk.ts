import type {
  ConsoleNetworkStory,
  ConsoleNodeStory,
  ConsolePodStory,
  ConsoleTopic,
  PodMatches,
} from "../../wire/console-story.ts";
import type { StormHistory } from "../../wire/console-storm.ts";
import type { ConsoleParts } from "./console-feed.ts";

/** What the server asks for its pages. Undefined: there is no such thing. */
export interface ConsoleDesk {
  parts(): ConsoleParts;
  pods(match: string): PodMatches;
  pod(namespace: string, name: string): Promise<ConsolePodStory | undefined>;
  network(name: string): ConsoleNetworkStory | undefined;
  node(name: string): Promise<ConsoleNodeStory | undefined>;
  explain(code: string): ConsoleTopic | undefined;
  /** Undefined without a Prometheus. */
  history(hours: number): Promise<StormHistory | undefined>;
}
