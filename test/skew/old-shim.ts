import { bytesField, bytesFields, numberField, textField, type Frame } from "../../src/wire/frame.ts";
import { RawPeer } from "./raw-peer.ts";
import { framesOf, numberBytes, withField, type RecordedFrame, type Transcript } from "./transcript.ts";

/**
 * A shim of an older version: it says what it said when it was recorded, byte for byte. Only what the daemon chose and
 * asks to have back is exchanged: the number of a step and the token of an operation.
 */
export class OldShim {
  readonly #peer: RawPeer;
  readonly #recorded: readonly RecordedFrame[];
  /** Outcomes that were not asked for yet, by the order they answer. */
  readonly #outcomes: RecordedOutcome[];
  readonly #dress: (bytes: Buffer) => Uint8Array;
  readonly heard: Frame[] = [];
  token: Uint8Array | undefined;
  agreedVersion: number | undefined;

  private constructor(peer: RawPeer, recorded: readonly RecordedFrame[], dress: (bytes: Buffer) => Uint8Array) {
    this.#peer = peer;
    this.#recorded = recorded;
    this.#outcomes = outcomesOf(recorded);
    this.#dress = dress;
  }

  static async start(socketDir: string, transcript: Transcript, options: OldShimOptions = {}): Promise<OldShim> {
    const { connection = 0, token, dress = (bytes): Uint8Array => bytes } = options;
    const recorded = framesOf(transcript, connection);
    const shim = new OldShim(await RawPeer.connect(socketDir), recorded, dress);
    const first = shim.#said(recorded[0]?.frame.type ?? "CALL");
    shim.#send(token === undefined ? first : withField(first, "token", token));
    return shim;
  }

  /** Answers the daemon until it says one of these, or hangs up. Returns its last frame, if there was one. */
  async until(...last: readonly Frame["type"][]): Promise<Frame | undefined> {
    for (;;) {
      const frame = await this.#peer.next();
      if (frame === undefined) return undefined;
      this.heard.push(frame);
      if (last.includes(frame.type)) return frame;
      this.#react(frame);
    }
  }

  /** Recorded answers that the daemon did not ask for. */
  get unasked(): readonly string[] {
    return this.#outcomes.map(({ order }) => order);
  }

  cut(): void {
    this.#peer.cut();
  }

  #react(frame: Frame): void {
    switch (frame.type) {
      case "WELCOME":
        this.token = bytesField(frame, "token");
        this.agreedVersion = numberField(frame, "version");
        return;
      case "GO":
        return this.#send(this.#said("CONFIG"));
      case "FINISH":
        return this.#send(this.#said("ACK"));
      case "RUN":
      case "ROUTES":
      case "STAT":
      case "REAP":
        for (const bytes of this.#answer(frame)) this.#send(bytes);
        return;
      default:
        throw new Error(`An old shim does not know what to do with ${frame.type}`);
    }
  }

  #send(bytes: Buffer): void {
    this.#peer.send(this.#dress(bytes));
  }

  /** The outcome, and before it what was told of its run. */
  #answer(frame: Frame): readonly Buffer[] {
    const order = describe(frame);
    const at = this.#outcomes.findIndex((outcome) => outcome.order === order);
    const outcome = this.#outcomes[at];
    if (outcome === undefined) throw new Error(`The old shim was never asked to ${order}`);
    this.#outcomes.splice(at, 1);
    const step = numberBytes(numberField(frame, "step") ?? 0);
    return [...outcome.progress, outcome.bytes].map((bytes) => withField(bytes, "step", step));
  }

  #said(type: Frame["type"]): Buffer {
    const recorded = this.#recorded.find(({ from, frame }) => from === "shim" && frame.type === type);
    if (recorded === undefined) throw new Error(`The old shim never said ${type}`);
    return recorded.bytes;
  }
}

export interface OldShimOptions {
  readonly connection?: number;
  /** Takes the place of the one in a recorded RESUME. */
  readonly token?: Uint8Array;
  /** Changes every frame before it is sent: how a newer shim is made of an old one. */
  readonly dress?: (bytes: Buffer) => Uint8Array;
}

/** An order in a form that does not depend on step numbers. */
export function describe(frame: Frame): string {
  const env = bytesFields(frame, "env").map((entry) => Buffer.from(entry).toString());
  const variable = (name: string): string =>
    env.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
  if (frame.type === "RUN")
    return `RUN ${textField(frame, "plugin")} ${variable("CNI_COMMAND")} ${variable("CNI_IFNAME")}`;
  if (frame.type === "ROUTES")
    return `ROUTES ${bytesFields(frame, "route_op")
      .map((op) => Buffer.from(op).toString("hex"))
      .join()}`;
  if (frame.type === "STAT")
    return `STAT ${bytesFields(frame, "path")
      .map((path) => Buffer.from(path).toString())
      .join()}`;
  return frame.type;
}

interface RecordedOutcome {
  readonly order: string;
  readonly bytes: Buffer;
  readonly progress: readonly Buffer[];
}

function outcomesOf(recorded: readonly RecordedFrame[]): RecordedOutcome[] {
  const orders = new Map(
    recorded
      .filter(({ from, frame }) => from === "daemon" && numberField(frame, "step") !== undefined)
      .map(({ frame }) => [numberField(frame, "step"), describe(frame)]),
  );
  const outcomes = recorded.filter(({ frame }) => frame.type === "OUTCOME");
  return outcomes.map(({ frame, bytes }) => {
    const step = numberField(frame, "step");
    const ofStep = recorded.filter((one) => one.frame.type === "PROGRESS" && numberField(one.frame, "step") === step);
    const progress = ofStep.map((one) => one.bytes);
    return { order: orders.get(step) ?? "", bytes, progress };
  });
}
