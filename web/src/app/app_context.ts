// SPDX-License-Identifier: Apache-2.0
// What every view of the application can reach.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { Actions } from "./actions";
import { Edits } from "./edits";
import { Names } from "./names";
import { createScene } from "./scene";
import { Spaces } from "./spaces";
import { createStore } from "./store";
import type { Source } from "../source/source";

export function createApp(source: Source) {
  const store = createStore(source);
  const names = new Names(store);
  const scene = createScene(store, names);
  const actions = new Actions(store);
  const edits = new Edits(store, scene, actions);
  return { store, scene, actions, edits, names, spaces: new Spaces(store, actions, names) };
}

export type App = ReturnType<typeof createApp>;

export const AppContext = createContext<App | null>(null);

export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error("no AppContext above this component");
  return app;
}
