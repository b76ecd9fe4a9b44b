// SPDX-License-Identifier: Apache-2.0
// By what rows are near each other: the features of the collection, and for each its maps and the
// distances to the nearest row. All of it is made by the server when first asked for.
import { batch, effect } from "@preact/signals";
import { needsFiles, type Criteria } from "../model/criteria";
import { orderOf, type Order } from "../model/order";
import type { JobProgress } from "../model/types";
import type { Actions } from "./actions";
import type { Names } from "./names";
import type { Store } from "./store";

const kAskAgain = 300; // milliseconds

const pause = () => new Promise((resolve) => { window.setTimeout(resolve, kAskAgain); });

export class Spaces {
  private asking = ""; // the feature whose map by neighbours is being asked for
  private isWatching = false;

  constructor(private readonly store: Store, private readonly actions: Actions, private readonly names: Names) {}

  // The map by neighbours is asked for while its axes are chosen.
  follow(): void {
    effect(() => {
      const { axes, feature, neighborMap, mapProgress, source } = this.store;
      const isWanted = axes.value === "neighbors" && source.can.spaces && !neighborMap.value && !mapProgress.value?.error;
      if (isWanted) void this.askForMap(feature.value);
    });
    if (this.store.features.value.kept.some((one) => one.state === "running")) void this.watch();
  }

  // Shows the collection by another of its features; "" is the first.
  async choose(feature: string): Promise<void> {
    const { store } = this;
    try {
      const map = await store.source.map(feature);
      batch(() => {
        store.feature.value = feature;
        store.map.value = map;
        store.neighborMap.value = store.nearest.value = store.mapProgress.value = null;
      });
      this.order(store.order.value); // by the new distances
    } catch (error) { this.actions.fail(error); }
  }

  // Describes the images by a feature; it is chosen once it is there.
  async add(feature: string): Promise<void> {
    const { store } = this;
    try {
      store.features.value = await store.source.addFeature(feature);
    } catch (error) { return this.actions.fail(error); }
    await this.watch();
    if (this.stateOf(feature) === "done") await this.choose(feature);
  }

  async remove(feature: string): Promise<void> {
    try {
      this.store.features.value = await this.store.source.removeFeature(feature);
      if (this.store.feature.value === feature) await this.choose("");
    } catch (error) { this.actions.fail(error); }
  }

  cancelMap(): void {
    this.store.axes.value = "pca";
    this.store.source.cancelNeighborMap(this.store.feature.value).catch((error: unknown) => this.actions.fail(error));
  }

  // Orders by distance need the distances, others the names or the files.
  order(order: Order): void {
    const { store } = this;
    store.order.value = order;
    const { column } = orderOf(order);
    if (column === "name") this.names.fetchAll();
    if (column === "size" || column === "date") this.wantFiles();
    if (column !== "nearest" || store.nearest.value) return;
    const feature = store.feature.value;
    store.source.nearest(feature).then(
      (nearest) => { if (store.feature.value === feature) store.nearest.value = nearest; }, (error) => this.actions.fail(error));
  }

  limit(criteria: Criteria): void {
    this.store.criteria.value = criteria;
    if (needsFiles(criteria)) this.wantFiles();
  }

  // Sizes and dates of the files.
  wantFiles(): void {
    const { store } = this;
    if (!store.files.value)
      store.source.files().then((files) => { store.files.value = files; }, (error) => this.actions.fail(error));
  }

  private stateOf(feature: string): string | undefined {
    return this.store.features.value.kept.find((one) => one.feature === feature)?.state;
  }

  // Asks how far the descriptions are until none is under way.
  private async watch(): Promise<void> {
    if (this.isWatching) return;
    this.isWatching = true;
    try {
      while (this.store.features.value.kept.some((one) => one.state === "running")) {
        await pause();
        this.store.features.value = await this.store.source.features();
      }
    } catch (error) { this.actions.fail(error); }
    this.isWatching = false;
  }

  private async askForMap(feature: string): Promise<void> {
    if (this.asking === feature + "!") return;
    this.asking = feature + "!";
    const { store } = this;
    const isWanted = () => store.axes.value === "neighbors" && store.feature.value === feature;
    try {
      for (let answer = await store.source.neighborMap(feature); isWanted(); answer = await store.source.neighborMap(feature)) {
        if (answer instanceof Float32Array) {
          batch(() => { store.neighborMap.value = answer as Float32Array; store.mapProgress.value = null; });
          break;
        }
        this.take(answer);
        if (answer.error) break;
        await pause();
      }
    } catch (error) {
      this.actions.fail(error);
      store.axes.value = "pca";
    }
    this.asking = "";
  }

  private take(progress: JobProgress): void {
    this.store.mapProgress.value = progress;
    if (progress.error) this.actions.fail(new Error(progress.error));
  }
}
