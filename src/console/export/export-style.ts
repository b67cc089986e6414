/** Readable in a mail, on paper and on a telephone; by the reader's own light or dark. */
export const exportStyle = `
:root{color-scheme:light dark;--line:#8888;--act:#b3261e;--watch:#8a5a00;--well:#1b6e3c}
@media(prefers-color-scheme:dark){:root{--act:#ff8a80;--watch:#ffca6b;--well:#7bd8a0}}
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem}
h1,h2,h3,h4{line-height:1.2;margin:1.2em 0 .4em}
header h1{margin:0}
article{border:1px solid var(--line);border-radius:.5rem;margin:1rem 0;padding:0 1rem;break-inside:avoid}
.now{font-size:1.3rem;font-weight:600;border-left:.4rem solid;padding-left:.6rem}
.now.act{border-color:var(--act)}.now.watch{border-color:var(--watch)}.now.well{border-color:var(--well)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{border-bottom:1px solid var(--line);padding:.25rem .5rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}
code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}
svg{display:block;width:100%;height:auto}
polyline{fill:none;stroke:currentColor;stroke-width:1.5}
`;
