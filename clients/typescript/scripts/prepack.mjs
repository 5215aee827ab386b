// Creates the files that `npm pack` adds to the package: the build output, and the licence of the project.
import { execFileSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";

const HERE = new URL("../", import.meta.url);
rmSync(new URL("dist/", HERE), { recursive: true, force: true });
execFileSync("npm", ["run", "--silent", "build"], { cwd: HERE, stdio: "inherit" });
copyFileSync(new URL("../../LICENSE", HERE), new URL("LICENSE", HERE));
