// SPDX-License-Identifier: Apache-2.0
// The top of the page: collection, theme, help.
import { counted } from "../model/text";
import { IconButton } from "../component/controls";
import { useApp } from "./app_context";
import { cycleTheme } from "./keys";

export function TopBar() {
  const app = useApp();
  const { store } = app;
  const collection = store.collection.value;
  const theme = store.theme.value;
  return (
    <header class="top-bar">
      <IconButton icon="panel" title="Options and runs" keys="C" pressed={store.isPanelOpen.value}
                  onClick={() => { store.isPanelOpen.value = !store.isPanelOpen.value; }} />
      <h1 class="brand"><Logo />Milieu</h1>
      {collection &&
        <p class="collection"><strong title={collection.name}>{collection.name}</strong>
          <span>{counted(collection.n, collection.kind === "images" ? "image" : "row")}
            {collection.classes.length > 0 && `, ${counted(collection.classes.length, "class", "classes")}`}{collection.feature && `, ${collection.feature}`}</span></p>}
      <span class="top-tools">
        {store.opened.value && <IconButton icon="share" title="Export" keys="S" text="Export" testId="export" onClick={() => { store.dialog.value = "export"; }} />}
        <IconButton icon={theme === "auto" ? "auto" : theme === "dark" ? "moon" : "sun"} title={`Theme: ${theme}`} keys="D" onClick={() => cycleTheme(app)} />
        <IconButton icon="help" title="Keys" keys="?" onClick={() => { store.dialog.value = "help"; }} />
      </span>
    </header>
  );
}

// Two sets and the line that separates them.
function Logo() {
  return (
    <svg class="logo" width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
      <circle cx="6.5" cy="7" r="3" fill="var(--accent)" /><circle cx="6" cy="15.5" r="2" fill="var(--accent)" opacity=".55" />
      <circle cx="16" cy="15" r="3" fill="var(--accent-2)" /><circle cx="16.5" cy="6.5" r="2" fill="var(--accent-2)" opacity=".55" />
      <path d="M11.5 2.5c-2 6 2 11 0 17" stroke="currentColor" stroke-width="1.6" fill="none" stroke-linecap="round" />
    </svg>
  );
}
