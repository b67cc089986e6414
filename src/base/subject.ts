/** Which pod, and which call of it, something happened to. */
export interface Subject {
  readonly namespace: string;
  readonly name: string;
  readonly containerId: string;
  readonly verb: string;
}
