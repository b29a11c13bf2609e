// The last step of a build: says that dist/cjs is CommonJS, and copies the licence.

import { copyFileSync, existsSync, writeFileSync } from "node:fs";

writeFileSync("dist/cjs/package.json", '{ "type": "commonjs" }\n');
if (existsSync("../../LICENSE")) copyFileSync("../../LICENSE", "LICENSE");
