import { render } from "preact";
import { App } from "./app/app.tsx";
import { keepFocus } from "./composer/focus-composer.ts";

render(<App />, document.getElementById("page")!);
keepFocus();
