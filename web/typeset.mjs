// How does TeX become a formula that is right without script?
// In: one JSON object a line, {"tex", "display"}. Out: one a line, {"html"} (KaTeX's HTML and MathML)
// or {"error"}. The process lives as long as its input does: one for a whole build.
import katex from "katex";
import { createInterface } from "node:readline";

const escape = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

// \htmlData{n=KEY}{59{,}71} marks a measured number; what is copied or read aloud is the number.
export function withoutMarks(tex) {
  const mark = /\\htmlData\{[^{}]*\}\{/g;
  for (let found; (found = mark.exec(tex)); mark.lastIndex = found.index) {
    let depth = 1;
    let end = mark.lastIndex;
    for (; depth > 0 && end < tex.length; end++) {
      if (tex[end] === "\\") end++;
      else if (tex[end] === "{") depth++;
      else if (tex[end] === "}") depth--;
    }
    const body = tex.slice(mark.lastIndex, end - 1);
    tex = tex.slice(0, found.index) + `{${body}}` + tex.slice(end);
  }
  return tex;
}

export function typeset(tex, display) {
  const html = katex.renderToString(tex, {
    displayMode: display,
    output: "htmlAndMathml",
    throwOnError: true,
    trust: ({ command }) => {
      if (command === "\\htmlData") return true;
      throw new Error(`${command} is not allowed in the book's mathematics`);
    },
    strict: (code) => (code === "htmlExtension" ? "ignore" : "error"),
  });
  return html
    .replace(
      /(<annotation encoding="application\/x-tex">).*?(<\/annotation>)/s,
      (_, open, close) => open + escape(withoutMarks(tex)) + close,
    )
    .replaceAll('<span class="enclosing" data-n="', '<span class="enclosing num" data-n="')
    .replace('<span class="katex-mathml">', '<span class="katex-mathml" data-search-exclude="true">');
}

if (process.argv[1] === import.meta.filename) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { tex, display } = JSON.parse(line);
    let answer;
    try {
      answer = { html: typeset(tex, display) };
    } catch (error) {
      answer = { error: error.message };
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
}
