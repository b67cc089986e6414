import { plainValue } from "../../base/plain-text.ts";
import { software } from "../../base/version.ts";
import { lintCodes, type LintCode } from "../../lint/lint-codes.ts";
import type { LintReport } from "./lint-report.ts";

/** SARIF 2.1.0, which code scanning of GitHub and GitLab and most editors read. */
export function sarifText({ findings }: LintReport): string {
  const codes = [...new Set(findings.map(({ code }) => code))].toSorted();
  const log = {
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "levee lint", version: software, rules: codes.map(ruleOf) } },
        columnKind: "utf16CodeUnits",
        results: findings.map(({ code, severity, object, message, remedy, place }) => ({
          ruleId: code,
          ruleIndex: codes.indexOf(code),
          level: severity,
          message: { text: `${object}: ${message}${remedy === "" ? "" : `; ${remedy}`}` },
          locations: [
            {
              ...(place.file === "" ? {} : { physicalLocation: physical(place) }),
              logicalLocations: [{ fullyQualifiedName: object }],
            },
          ],
        })),
      },
    ],
  };
  return `${JSON.stringify(plainValue(log), undefined, 2)}\n`;
}

function ruleOf(code: LintCode): unknown {
  const { title, means, todo, severity } = lintCodes[code];
  return {
    id: code,
    shortDescription: { text: title },
    fullDescription: { text: means },
    help: { text: todo },
    defaultConfiguration: { level: severity },
  };
}

function physical({ file, line, column, endLine, endColumn }: LintReport["findings"][number]["place"]): unknown {
  return {
    artifactLocation: { uri: file.split("/").map(encodeURIComponent).join("/") },
    region: { startLine: line, startColumn: column, endLine, endColumn },
  };
}
