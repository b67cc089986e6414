import { answerQuestion, checksAnswer } from "./answer/answers.ts";
import { holdsAnswer } from "./answer/holds-answer.ts";
import { PodStories } from "./answer/pod-story.ts";
import { StormTeller } from "./answer/storm-teller.ts";
import { nodeAnswer, type ThisNode } from "./answer/node-answer.ts";
import type { CollectParts } from "./compose-collect.ts";
import type { ComposedDryRuns } from "./compose-dry-run.ts";
import type { Ground } from "./compose-ground.ts";
import type { UndoParts } from "./compose-undo.ts";

export interface AnswerParts {
  readonly dryRuns: ComposedDryRuns;
  readonly undo: UndoParts;
  readonly collect: CollectParts;
  readonly thisNode: ThisNode;
}

export interface ComposedAnswers {
  /** Answers a command on the socket. */
  readonly answer: (question: string) => unknown;
  /** Answers `levee check node --all` over HTTP. */
  readonly node: () => object | Promise<object>;
  /** Answers the console over HTTP. */
  readonly story: PodStories["of"];
  /** Answers `levee report --storm` over HTTP. */
  readonly storms: StormTeller["of"];
}

export function composeAnswers(ground: Ground, { undo, collect, thisNode, dryRuns }: AnswerParts): ComposedAnswers {
  const { nodeName, sourceNotices } = thisNode;
  const node = { ...ground, ...undo, thisNode };
  const checks = { ...ground, nodeName };
  const needs = {
    attachments: { ...ground, ...undo },
    timeline: { ...ground, sourceNotices },
    leaks: { ...ground, ...undo },
    gc: collect.selfGc,
    node,
    checks,
    dryRuns,
    top: { ...ground, pulse: ground.timeline, thisNode },
  };
  const stories = new PodStories(needs);
  const storms = new StormTeller(ground);
  return {
    answer: (question) => answerQuestion(question, needs),
    node: () => ({
      node: nodeAnswer(node),
      checks: checksAnswer(checks),
      holds: holdsAnswer(ground),
      leases: collect.leaseCounts(),
    }),
    story: (pod) => stories.of(pod),
    storms: () => storms.of(),
  };
}
