import type { Screen, Shell } from "../shell.ts";

export type Colour = "bold" | "dim" | "red" | "green" | "yellow";
export type Paint = (colour: Colour, text: string) => string;

const codes: Readonly<Record<Colour, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
};

/** Colours only on a terminal, and never when NO_COLOR is set (https://no-color.org). */
export function paintFor(screen: Screen, env: Shell["env"]): Paint {
  const isOn = screen.isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  return (colour, text) => (isOn ? `\u001b[${codes[colour][0]}m${text}\u001b[${codes[colour][1]}m` : text);
}
