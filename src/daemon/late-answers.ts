import type { AnswerParts, ComposedAnswers } from "./compose-answers.ts";
import type { Ground } from "./compose-ground.ts";

/** The answers to commands and the console, loaded with the first question: an idle daemon has no memory of them. */
export function lateAnswers(ground: Ground, parts: AnswerParts): ComposedAnswers {
  let loading: Promise<ComposedAnswers> | undefined;
  const load = async (): Promise<ComposedAnswers> => {
    const { composeAnswers } = await import("./compose-answers.ts");
    return composeAnswers(ground, parts);
  };
  const loaded = (): Promise<ComposedAnswers> => (loading ??= load());
  return {
    answer: async (question) => await (await loaded()).answer(question),
    node: async () => await (await loaded()).node(),
    story: async (pod) => await (await loaded()).story(pod),
    storms: async () => await (await loaded()).storms(),
  };
}
