// Loads the program and brings the stage to life.
import load, { hydrate } from "/pkg/aegis.js";

await load({ module_or_path: "/pkg/aegis.wasm" });
hydrate();
