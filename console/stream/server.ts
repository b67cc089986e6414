import type { ConsoleProblem } from "../../src/wire/console-view.ts";

/** A refusal of the server, in its own words. */
export class Refusal extends Error {
  readonly status: number;
  readonly problem: ConsoleProblem;

  constructor(status: number, problem: ConsoleProblem) {
    super(problem.message);
    this.status = status;
    this.problem = problem;
  }
}

/** The only door to the network. Every address is relative to the page's own; the token lives in memory only. */
export class Server {
  #token = "";

  signIn(token: string): void {
    this.#token = token.trim();
  }

  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return (await (await this.#ask(path, signal === undefined ? {} : { signal })).json()) as T; // src/wire/console-view.ts
  }

  async post<T>(path: string, body: object): Promise<T> {
    const headers = { "Content-Type": "application/json" };
    return (await (await this.#ask(path, { method: "POST", headers, body: JSON.stringify(body) })).json()) as T; // as above
  }

  /** The stream of events as text. */
  async events(signal: AbortSignal): Promise<ReadableStream<string>> {
    const { body } = await this.#ask("events", { signal, headers: { Accept: "text/event-stream" } });
    if (body === null) throw new Error("the server's answer is empty");
    return body.pipeThrough(new TextDecoderStream());
  }

  async #ask(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.#token !== "") headers.set("Authorization", `Bearer ${this.#token}`);
    const answer = await fetch(path, { ...init, headers, cache: "no-store", credentials: "omit", redirect: "error" });
    if (!answer.ok) throw new Refusal(answer.status, await problemOf(answer));
    return answer;
  }
}

async function problemOf(answer: Response): Promise<ConsoleProblem> {
  const fallback = { code: `http-${answer.status}`, message: `The server answered ${answer.status}`, remedy: "" };
  try {
    const found = (await answer.json()) as Partial<ConsoleProblem>; // a proxy may have answered instead
    return { ...fallback, ...found };
  } catch {
    return fallback;
  }
}

/** What went wrong, in words for the viewer. */
export function problemFrom(thrown: unknown): ConsoleProblem {
  if (thrown instanceof Refusal) return thrown.problem;
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  const remedy = "Is `levee console` still running? Start it again and open the new link.";
  return { code: "server-unreachable", message: `The console's server does not answer: ${why}`, remedy };
}
