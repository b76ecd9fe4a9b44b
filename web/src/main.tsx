// SPDX-License-Identifier: Apache-2.0
// The explorer's page. With embedded data it is a report, otherwise it asks the server it came from.
import { effect } from "@preact/signals";
import { render } from "preact";
import { isOver } from "./model/types";
import { AppContext, createApp, type App } from "./app/app_context";
import { listenToKeys } from "./app/keys";
import { startLink } from "./app/link_sync";
import { Root } from "./app/root";
import type { Theme } from "./app/store";
import { ReportSource } from "./source/report_source";
import { ServerSource } from "./source/server_source";
import "./style/style.css";

const kThemeKey = "milieu.theme";

function stored(key: string): string | null {
  try { return localStorage.getItem(key); } catch { return null; }
}

function followTheme({ store }: App): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const known = stored(kThemeKey);
  if (known === "light" || known === "dark") store.theme.value = known as Theme;
  const apply = () => {
    const theme = store.theme.value;
    store.isDark.value = theme === "dark" || (theme === "auto" && system.matches);
    document.documentElement.dataset.theme = store.isDark.value ? "dark" : "light";
    try { localStorage.setItem(kThemeKey, theme); } catch { /* a page from a file may not store */ }
  };
  effect(apply);
  system.addEventListener("change", apply);
}

function followWidth({ store }: App): void {
  const narrow = matchMedia("(max-width: 800px)");
  const apply = () => {
    store.isNarrow.value = narrow.matches;
    store.isPanelOpen.value = !narrow.matches || (!store.runId.value && store.source.can.run);
  };
  apply();
  narrow.addEventListener("change", apply);
}

// Corrections are kept as they are made; the rest when the page is left.
function followEdits({ store, actions }: App): void {
  effect(() => { if (store.corrections.value) actions.saveEdits(); });
  document.addEventListener("visibilitychange", () => { if (document.hidden) void actions.flushEdits(); });
}

// Another tab may start runs; a server that went away may come back.
function followServer({ store, actions }: App): void {
  const look = () => {
    if (document.hidden) return;
    const isActive = store.runs.value.some((run) => !isOver(run.state));
    if (isActive || store.isLost.value) void actions.refreshRuns();
  };
  window.setInterval(look, 3000);
  const tabs = new BroadcastChannel("milieu-runs");
  tabs.onmessage = () => void actions.refreshRuns();
  actions.onRunsChanged = () => tabs.postMessage("changed");
  window.addEventListener("focus", () => void actions.refreshRuns());
}

async function start(): Promise<void> {
  const report = ReportSource.find(document);
  const app = createApp(report ?? new ServerSource());
  followTheme(app);
  followWidth(app);
  render(<AppContext.Provider value={app}><Root /></AppContext.Provider>, document.getElementById("app")!);
  listenToKeys(app);
  await app.actions.load();
  if (app.store.phase.value !== "ready") return;
  document.documentElement.dataset.kind = app.store.collection.value!.kind;
  document.title = `${app.store.collection.value!.name} – Milieu`;
  await startLink(app);
  app.spaces.follow();
  if (app.store.runId.value && app.store.isNarrow.value) app.store.isPanelOpen.value = false;
  if (report) return;
  followEdits(app);
  followServer(app);
}

void start();
