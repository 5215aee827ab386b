import { render } from "preact";
import { App } from "./app";
import { applyTheme } from "./lib/theme";
import "./style/frame.css";
import "./style/parts.css";
import "./style/views.css";

applyTheme();
const root = document.getElementById("app");
root?.replaceChildren();
if (root) render(<App />, root);
