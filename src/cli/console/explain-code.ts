import type { ConsoleTopic } from "../../wire/console-story.ts";

/** Loaded once, and late: no other part of the console needs the pages. */
export async function topicFinder(): Promise<(code: string) => ConsoleTopic | undefined> {
  const { allTopics } = await import("../explain/topics.ts");
  const { findTopic } = await import("../explain/find-topic.ts");
  const topics = allTopics();
  return (code) => {
    const topic = findTopic(topics, code);
    return topic === undefined ? undefined : { name: topic.name, title: topic.title, text: topic.text };
  };
}
