import { answerQuestion, checksAnswer } from "./answer/answers.ts";
import { holdsAnswer } from "./answer/holds-answer.ts";
import { PodStories } from "./answer/pod-story.ts";
import { nodeAnswer, type ThisNode } from "./answer/node-answer.ts";
import type { CollectParts } from "./compose-collect.ts";
import { composeDryRuns, type ComposedDryRuns } from "./compose-dry-run.ts";
import type { Ground } from "./compose-ground.ts";
import type { Service } from "./service.ts";
import type { Source } from "./source/source.ts";
import type { UndoParts } from "./compose-undo.ts";

interface AnswerParts {
  readonly source: Pick<Source, "dryRun">;
  readonly undo: UndoParts;
  readonly collect: CollectParts;
  readonly thisNode: ThisNode;
}

export interface ComposedAnswers {
  /** Answers a command on the socket. */
  readonly answer: (question: string) => unknown;
  /** Answers `levee check node --all` over HTTP. */
  readonly node: () => object;
  /** Answers the console over HTTP. */
  readonly story: PodStories["of"];
  /** Answers `levee check network --dry-run` over HTTP. */
  readonly dryRun: ComposedDryRuns["request"];
  /** To be stopped while the resident hand is still connected. */
  readonly dryRuns: Service;
}

export function composeAnswers(ground: Ground, { undo, collect, thisNode, source }: AnswerParts): ComposedAnswers {
  const { nodeName, sourceNotices } = thisNode;
  const node = { ...ground, ...undo, thisNode };
  const checks = { ...ground, nodeName };
  const dryRuns = composeDryRuns(ground, { undo, nodeName, read: source.dryRun });
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
  return {
    answer: (question) => answerQuestion(question, needs),
    node: () => ({
      node: nodeAnswer(node),
      checks: checksAnswer(checks),
      holds: holdsAnswer(ground),
      leases: collect.leaseCounts(),
    }),
    story: (pod) => stories.of(pod),
    dryRun: (namespace, name) => dryRuns.request(namespace, name),
    dryRuns,
  };
}
