// Builds the console into dist/: index.html, and the script and the style under names with a hash.
import { build } from "esbuild";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

rmSync("dist", { recursive: true, force: true });
mkdirSync("dist");
// Preact's license goes where its code goes.
const license = readFileSync("node_modules/preact/LICENSE", "utf8");
const result = await build({
  banner: { js: `/* This file contains Preact.\n\n${license.replaceAll("*/", "")}*/` },
  entryPoints: ["src/main.tsx", "src/style.css"],
  bundle: true,
  minify: true,
  charset: "utf8",
  format: "esm",
  target: "es2020",
  jsx: "automatic",
  jsxImportSource: "preact",
  outdir: "dist",
  entryNames: "[name]-[hash]",
  metafile: true,
  logLevel: "error",
});
const names = Object.keys(result.metafile.outputs).map((name) => basename(name));
const one = (end) => names.find((name) => name.endsWith(end));
const page = readFileSync("src/index.html", "utf8")
  .replace("SCRIPT", one(".js"))
  .replace("STYLE", one(".css"));
writeFileSync("dist/index.html", page);
