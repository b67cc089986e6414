import { connect, type Socket } from "node:net";
import { deadline, type Clock } from "../../base/clock.ts";
import { errnoOf, LeveeError } from "../../base/errors.ts";
import { FrameReader } from "../../wire/frame-reader.ts";
import { encodeFrame, protocolVersion, protocolVersionMin, textField, type Frame } from "../../wire/frame.ts";
import type {
  Answer,
  AttachmentsAnswer,
  ChecksAnswer,
  GcAnswer,
  LeaksAnswer,
  NodeAnswer,
  Question,
  TimelineAnswer,
} from "../../wire/node-view.ts";
import type { DryRunAnswer } from "../../wire/dry-run.ts";
import type { TopAnswer } from "../../wire/top-view.ts";
import { CommandFailure, interruptedFailure } from "../failure.ts";
import { daemonRemedy, rootRemedy } from "../remedies.ts";
import { software } from "../../base/version.ts";

/** The type of each question's answer. */
interface AnswerOf {
  readonly "attachments": AttachmentsAnswer;
  readonly "timeline": TimelineAnswer;
  readonly "leaks": LeaksAnswer;
  readonly "gc": GcAnswer;
  readonly "node": NodeAnswer;
  readonly "checks": ChecksAnswer;
  readonly "top": TopAnswer;
  readonly "dry-run": DryRunAnswer;
}

interface AskOptions {
  readonly socket: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

/** The daemon answers from memory, so after five seconds of silence it is stuck. */
const askDeadlineMs = 5000;

/** Asks the daemon one question over its socket. Fails with code daemon-unreachable if no daemon answers. */
export async function askSocket<Q extends Question>(question: Q, options: AskOptions): Promise<AnswerOf[Q["ask"]]> {
  const limitMs = options.deadlineMs ?? askDeadlineMs;
  const silent = (): Error => unreachable(options.socket, `no answer within ${limitMs / 1000} s`, undefined);
  using limit = deadline(options.clock, limitMs, silent);
  const frame = await exchange(question, options, limit.signal);
  // The daemon and this program share node-view.ts; a newer daemon only adds fields.
  const reply = parseAnswer(frame) as Answer<AnswerOf[Q["ask"]]>;
  if ("error" in reply) throw new CommandFailure(reply.error.code, reply.error.message);
  return reply.answer;
}

export function isUnreachable(thrown: unknown): boolean {
  return thrown instanceof CommandFailure && thrown.code === "daemon-unreachable";
}

/** Whether a process accepts connections on the socket now. Sends nothing. */
export function isListening(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const peer = connect({ path: socket });
    // Stays for good: an unhandled error after the answer would end the program.
    peer.on("error", () => resolve(false));
    peer.once("connect", () => {
      resolve(true);
      peer.destroy();
    });
  });
}

/** Sends ASK and waits for its answer. */
function exchange(question: Question, options: AskOptions, limit: AbortSignal): Promise<Frame> {
  const { promise, resolve, reject } = Promise.withResolvers<Frame>();
  const socket = connect({ path: options.socket });
  const reader = new FrameReader();
  const onLimit = (): void => reject(limit.reason as Error);
  const onInterrupt = (): void => reject(interruptedFailure("asking the daemon"));
  if (options.signal?.aborted === true) onInterrupt();
  limit.addEventListener("abort", onLimit, { once: true });
  options.signal?.addEventListener("abort", onInterrupt, { once: true });
  socket.on("error", (error) => reject(unreachable(options.socket, reasonOf(error), error)));
  socket.on("connect", () => socket.write(askFrame(question)));
  socket.on("data", (chunk: Buffer) => receive(reader, chunk, { resolve, reject }));
  socket.on("close", () =>
    reject(unreachable(options.socket, "it closed the connection without an answer", undefined)),
  );
  return promise.finally(() => {
    options.signal?.removeEventListener("abort", onInterrupt);
    hangUp(socket);
  });
}

function askFrame(question: Question): Uint8Array {
  return encodeFrame("ASK", [
    ["version_min", protocolVersionMin],
    ["version_max", protocolVersion],
    ["software", software],
    ["question", JSON.stringify(question)],
  ]);
}

function receive(
  reader: FrameReader,
  chunk: Uint8Array,
  settle: { resolve(frame: Frame): void; reject(error: Error): void },
): void {
  try {
    // Other frames, such as a greeting or a heartbeat, do not matter here.
    const frame = reader.push(chunk).find(({ type }) => type === "ANSWER" || type === "REFUSE");
    if (frame?.type === "ANSWER") settle.resolve(frame);
    if (frame?.type === "REFUSE") settle.reject(refused(frame));
  } catch (cause) {
    settle.reject(cause instanceof Error ? cause : new Error(String(cause)));
  }
}

function refused(frame: Frame): CommandFailure {
  const remedy = "use the levee program that came with the running daemon; levee version shows both";
  return new CommandFailure(
    textField(frame, "code") ?? "protocol-violated",
    textField(frame, "message") ?? "The daemon refused the question",
    { remedy },
  );
}

function parseAnswer(frame: Frame): object {
  const text = textField(frame, "answer") ?? "";
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && ("answer" in value || "error" in value)) return value;
  } catch (cause) {
    throw new LeveeError("decode-failed", "Cannot read the daemon's answer: it is not JSON", { cause });
  }
  throw new LeveeError("decode-failed", "Cannot read the daemon's answer: it holds neither an answer nor an error");
}

function unreachable(socket: string, reason: string, cause: unknown): CommandFailure {
  return new CommandFailure("daemon-unreachable", `Cannot ask the daemon on ${socket}: ${reason}`, {
    remedy: errnoOf(cause) === "EACCES" ? rootRemedy : daemonRemedy,
    cause,
  });
}

function reasonOf(error: Error): string {
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "the socket does not exist",
    ECONNREFUSED: "the socket exists but no process listens on it",
    EACCES: "permission denied; the socket belongs to root",
    ENOTSOCK: "that path is not a socket",
  };
  const errno = errnoOf(error) ?? error.message;
  return reasons[errno] ?? errno;
}

/** Errors after the answer do not matter, but an unhandled one would end the program. */
function hangUp(socket: Socket): void {
  socket.removeAllListeners();
  socket.on("error", () => undefined);
  socket.destroy();
}
