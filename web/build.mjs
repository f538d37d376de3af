// What does the browser get? Styles, fonts, one small script: gathered into build/web/.
// In: css/, src/, palette.json, the packages of package-lock.json. Out: build/web/assets/.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const here = import.meta.dirname;
const out = join(here, "..", "build", "web", "assets");
const require = createRequire(import.meta.url);
const modules = join(here, "node_modules");
const package_ = (name) => dirname(require.resolve(`${name}/package.json`));

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "fonts"), { recursive: true });
mkdirSync(join(out, "licenses"));

// Fonts, unmodified.
const faces = {
  "source-serif-4": ["latin-400-normal", "latin-400-italic", "latin-600-normal", "greek-400-normal"],
  "source-sans-3": ["latin-400-normal", "latin-600-normal"],
  "source-code-pro": ["latin-400-normal"],
};
for (const [family, files] of Object.entries(faces)) {
  const root = package_(`@fontsource/${family}`);
  for (const file of files) {
    const name = `${family}-${file}.woff2`;
    copyFileSync(join(root, "files", name), join(out, "fonts", name));
  }
  copyFileSync(join(root, "LICENSE"), join(out, "licenses", `${family}.txt`));
}
const katex = package_("katex");
for (const name of readdirSync(join(katex, "dist", "fonts")))
  if (name.endsWith(".woff2")) copyFileSync(join(katex, "dist", "fonts", name), join(out, "fonts", name));
for (const name of ["katex", "preact", "d3-random"])
  copyFileSync(join(modules, name, "LICENSE"), join(out, "licenses", `${name}.txt`));

// The palette is written once, in palette.json; both schemes come from it. Paper is always light.
const palette = JSON.parse(readFileSync(join(here, "palette.json"), "utf8"));
const tokens = (column) =>
  Object.entries(palette)
    .map(([name, pair]) => `--${name}:${pair[column]}`)
    .concat(
      column === 0
        ? "--shadow:0 .1rem .2rem #22262b14,0 .4rem 1.2rem #22262b1f;color-scheme:light"
        : "--shadow:0 .1rem .2rem #0006,0 .4rem 1.2rem #0009;color-scheme:dark",
    )
    .join(";");
const schemes =
  `:root,[data-md-color-scheme]{${tokens(0)}}` +
  `@media screen{[data-md-color-scheme=slate]{${tokens(1)}}}` +
  `@media screen and (prefers-color-scheme:dark){.no-js body:not([data-md-color-media]){${tokens(1)}}}`;
const katexStyles = readFileSync(join(katex, "dist", "katex.min.css"), "utf8").replace(
  /,url\([^)]*\.(?:woff|ttf)\) format\("[a-z]+"\)/g,
  "",
);
const styles = await build({
  entryPoints: [join(here, "css", "book.css")],
  bundle: true,
  minify: true,
  write: false,
  external: ["fonts/*"],
  logLevel: "error",
});
writeFileSync(join(out, "book.css"), katexStyles + schemes + styles.outputFiles[0].text);

const script = { bundle: true, minify: true, target: "es2022", logLevel: "error" };
await build({
  ...script,
  entryPoints: [join(here, "src", "book.ts")],
  outfile: join(out, "book.js"),
  format: "iife",
});
// Asked for by book.js, and only by pages that have a panel.
await build({
  ...script,
  entryPoints: [join(here, "src", "panels", "main.tsx")],
  outfile: join(out, "panels.js"),
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
});
