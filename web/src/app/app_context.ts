// SPDX-License-Identifier: Apache-2.0
// What every view of the application can reach.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { Actions } from "./actions";
import { Edits } from "./edits";
import { Names } from "./names";
import { createScene } from "./scene";
import { createStore } from "./store";
import type { Source } from "../source/source";

export function createApp(source: Source) {
  const store = createStore(source);
  const scene = createScene(store);
  const actions = new Actions(store);
  const edits = new Edits(store, scene, actions);
  return { store, scene, actions, edits, names: new Names(store) };
}

export type App = ReturnType<typeof createApp>;

export const AppContext = createContext<App | null>(null);

export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error("no AppContext above this component");
  return app;
}
