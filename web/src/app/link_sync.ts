// SPDX-License-Identifier: Apache-2.0
// Keeps the URL's hash and the state in sync, both ways.
import { batch, effect } from "@preact/signals";
import { needsContext } from "../model/form";
import { packLink, unpackLink, type LinkState } from "../model/link";
import type { App } from "./app_context";

function linkState({ store }: App): LinkState {
  return {
    run: store.runId.value, against: store.againstId.value, view: store.view.value,
    layout: store.layout.value, method: store.methodName.value, set: store.set.value,
    context: store.context.value, options: store.options.value, feature: store.feature.value, parts: [...store.emphasised.value],
    order: store.order.value, criteria: store.criteria.value, colorBy: store.colorBy.value, axes: store.axes.value,
    axisParts: store.axisParts.value, camera: store.camera.value, showContext: store.showContext.value,
    tile: store.tile.value, selection: [...store.selection.value],
  };
}

export function permalink(app: App): string {
  return `${location.href.replace(/[?#].*$/, "")}#${packLink(linkState(app))}`;
}

async function applyLink(app: App, state: LinkState): Promise<void> {
  const { store, actions } = app;
  batch(() => {
    store.methodName.value = state.method || store.methodName.value;
    store.set.value = state.set;
    store.context.value = state.context;
    store.options.value = state.options;
    store.view.value = state.view;
    store.layout.value = state.layout;
    app.spaces.order(state.order);
    app.spaces.limit(state.criteria);
    store.colorBy.value = state.colorBy;
    store.axes.value = state.axes;
    store.axisParts.value = state.axisParts;
    store.showContext.value = state.showContext;
    store.tile.value = state.tile;
  });
  const wanted = { view: state.view };
  if (state.feature !== store.feature.value) await app.spaces.choose(state.feature);
  if (store.runId.value !== state.run) await actions.open(state.run);
  batch(() => {
    store.view.value = wanted.view;
    store.emphasised.value = state.parts;
    store.camera.value = state.camera;
    store.selection.value = new Set(state.selection);
  });
  if (state.against !== store.againstId.value) {
    await actions.compareWith(state.against);
    store.view.value = wanted.view;
  }
}

// The default if the link names no method: the first that needs a context, else the first.
function chooseDefaults({ store }: App): void {
  const methods = store.methods.value;
  if (!store.method.value)
    store.methodName.value = (methods.find(needsContext) ?? methods[0])?.name ?? "";
}

export async function startLink(app: App): Promise<void> {
  const first = unpackLink(location.hash);
  if (!first.run && app.store.runs.value.length === 1 && !app.store.source.can.run)
    first.run = app.store.runs.value[0].id; // a report opens its run
  await applyLink(app, first);
  chooseDefaults(app);
  let written = "";
  let lastRun = app.store.runId.value;
  effect(() => {
    const text = packLink(linkState(app));
    const run = app.store.runId.value;
    if (text === written) return;
    written = text;
    const place = `${location.pathname}#${text}`;
    if (run !== lastRun) history.pushState(null, "", place);
    else history.replaceState(null, "", place);
    lastRun = run;
  });
  window.addEventListener("popstate", () => {
    if (location.hash.slice(1) === written) return;
    const state = unpackLink(location.hash);
    lastRun = state.run;
    written = location.hash.slice(1);
    void applyLink(app, state);
  });
}
