/** Why things are as they are, as it is written into a Decision. Text of others in it is cleaned. */
export interface Cause {
  readonly type: CauseType;
  /** The same for the same cause, whichever leader sees it and whenever. */
  readonly id: string;
  readonly summary: string;
  readonly namespace: string;
  /** RFC 3339: when its oldest member was made. */
  readonly since: string;
  /** What the members have in common. */
  readonly shape: CauseShape;
  /** Who the creating client says it is. It can say anything; only an audit log knows the account. */
  readonly clientSays?: string;
  readonly symptoms?: readonly Symptom[];
  readonly chain?: readonly ChainEdge[];
}

export type CauseType = "OwnerlessPodAvalanche";

export interface CauseShape {
  /** Empty when the pods were named one by one; their labels then make the shape. */
  readonly generateName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly specHash: string;
}

/** Something that was seen, and may follow from the cause. */
export interface Symptom {
  readonly id: string;
  readonly kind: "Alert" | "Event" | "Object" | "Measure";
  readonly name: string;
  readonly namespace?: string;
  readonly node?: string;
  readonly text?: string;
  readonly at?: string;
}

/** `to` follows from `from`, which is a symptom's id or `cause`, by a rule of `detect/chain-rules.ts`. */
export interface ChainEdge {
  readonly from: string;
  readonly to: string;
  readonly rule: string;
}
